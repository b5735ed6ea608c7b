/** Generated migrations start here, so that they never collide with hand-written ones. */
export const FIRST_GENERATED = 9001

/** A table with INDEXED search, and the expression of its vector. */
export interface SearchTable {
  readonly table: string
  readonly vector: string
}

/** File name → SQL. */
export type MigrationFiles = Readonly<Record<string, string>>

/**
 * The migrations that INDEXED search needs (PostgreSQL): for each table a pair that adds the stored vector and its GIN index.
 * A table whose vector is already in `committed` keeps its pair; a new table or a changed vector takes the next free one, so
 * that an applied file is never edited. The same input gives the same bytes.
 * @param committed - the files of the migrations folder, as they are now.
 */
export function searchMigrations(tables: readonly SearchTable[], committed: MigrationFiles): MigrationFiles {
  const files: Record<string, string> = {}
  let next = firstFree(committed)
  for (const { table, vector } of [...tables].sort((a, b) => (a.table < b.table ? -1 : 1))) {
    const before = latestVector(table, committed)
    if (before?.vector === vector) Object.assign(files, pairAt(before.version, committed))
    else {
      Object.assign(files, newPair(next, table, vector, before?.vector))
      next += 2
    }
  }
  return files
}

function newPair(version: number, table: string, vector: string, before: string | undefined): MigrationFiles {
  const name = quoted(table)
  const column = quoted('search_vector')
  const index = quoted(`${table}_search_vector_gin`)
  const add = (expression: string) =>
    `ADD COLUMN ${column} tsvector GENERATED ALWAYS AS (${expression}) STORED`
  const drop = `DROP COLUMN IF EXISTS ${column}`
  const vectorFile = `${String(version)}_${table}_search_vector`
  const indexFile = `${String(version + 1)}_${table}_search_gin`
  return {
    [`${vectorFile}.up.sql`]: `ALTER TABLE ${name} ${before === undefined ? '' : `${drop}, `}${add(vector)};\n`,
    [`${vectorFile}.down.sql`]:
      before === undefined
        ? `ALTER TABLE ${name} ${drop};\n`
        : `ALTER TABLE ${name} ${drop}, ${add(before)};\nCREATE INDEX ${index} ON ${name} USING gin (${column});\n`,
    [`${indexFile}.up.sql`]: `CREATE INDEX CONCURRENTLY ${index} ON ${name} USING gin (${column});\n`,
    [`${indexFile}.down.sql`]: `DROP INDEX CONCURRENTLY IF EXISTS ${index};\n`,
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const VECTOR_FILE = /^(\d{4})_(.+)_search_vector\.up\.sql$/
const VECTOR = /GENERATED ALWAYS AS \(([^]*)\) STORED;\n$/

/** The vector that a table has once the committed files are applied. */
function latestVector(
  table: string,
  committed: MigrationFiles,
): { version: number; vector: string | undefined } | undefined {
  const versions = Object.keys(committed)
    .map((name) => VECTOR_FILE.exec(name))
    .filter((match) => match?.[2] === table)
    .map((match) => Number(match?.[1]))
  const version = Math.max(...versions)
  if (versions.length === 0) return undefined
  return { version, vector: VECTOR.exec(committed[`${version}_${table}_search_vector.up.sql`] ?? '')?.[1] }
}

const pairAt = (version: number, committed: MigrationFiles): MigrationFiles =>
  Object.fromEntries(
    Object.entries(committed).filter(([name]) => [version, version + 1].includes(Number(name.slice(0, 4)))),
  )

function firstFree(committed: MigrationFiles): number {
  const used = Object.keys(committed)
    .map((name) => Number(/^(\d{4})_/.exec(name)?.[1]))
    .filter((version) => version >= FIRST_GENERATED)
  const last = Math.max(FIRST_GENERATED - 1, ...used)
  return last % 2 === 0 ? last + 1 : last + 2
}
