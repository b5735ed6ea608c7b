import type { TableDifference, TableNote } from '../../lib/text/table-difference.js'

/** Differences between the tables of a database and the tables that migrations would create. */
export interface ComparedTables {
  readonly of: (table: string | undefined) => readonly (TableDifference | TableNote)[]
  readonly notes: readonly string[]
}

export const NOT_COMPARED: ComparedTables = { of: () => [], notes: [] }

/**
 * Compares the tables of resources with a database. SQLite is not supported, because its catalog cannot be
 * compared.
 * @param exports - the entity classes and the DataSource that names their tables.
 */
export async function comparedTables(url: string, exports: readonly unknown[]): Promise<ComparedTables> {
  const [{ migrate, Unimplemented }, { schemaComparison }] = await Promise.all([
    import('../../lib/migrations/index.js'),
    import('../../lib/persistence/index.js'),
  ])
  const found: (TableDifference | TableNote)[] = []
  try {
    const compare = schemaComparison(exports, { note: (one) => found.push(one) })
    for (const one of await migrate({ url, files: {} }).verify(compare)) if ('text' in one) found.push(one)
  } catch (error) {
    if (error instanceof Unimplemented) return NOT_COMPARED
    return { ...NOT_COMPARED, notes: [`the tables are not compared: ${(error as Error).message}`] }
  }
  return { ...NOT_COMPARED, of: (table) => found.filter((one) => one.table === table) }
}
