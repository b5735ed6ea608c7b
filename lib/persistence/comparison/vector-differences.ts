import type { TableDifference } from '../../text/table-difference.js'
import { type LiveSchema, type LiveTable, shapeOf } from '../dialects/catalog/live-table.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import { postgres } from '../dialects/postgres.js'
import { quoteTable } from '../dialects/quote-table.js'
import { SEARCH_VECTOR } from '../dialects/search-predicate.js'
import { tableText } from '../schema/table-name-of.js'

/**
 * Returns the differences between the stored search vector of an INDEXED resource and the model. PostgreSQL
 * only.
 *
 * @param wanted - the vector's expression in PostgreSQL's canonical form, or undefined if it is unknown.
 */
export function vectorDifferences(
  table: TableName,
  { columns, indexes }: LiveTable,
  wanted: string | undefined,
): readonly TableDifference[] {
  const column = columns.find(({ name: one }) => one === SEARCH_VECTOR)
  const gin = shapeOf({ unique: false, method: 'gin', columns: [SEARCH_VECTOR] })
  const name = tableText(table)
  const of = (kind: string, text: string, detail?: string): TableDifference => ({
    ...{ kind, table: name, column: SEARCH_VECTOR, text, next: 'search' },
    ...(detail !== undefined && { detail }),
  })
  const index = indexes.some((one) => shapeOf(one) === gin)
    ? []
    : [of('noVectorIndex', `${name} lacks the gin index on ${SEARCH_VECTOR}`)]
  if (column === undefined) return [of('noVector', `${name}.${SEARCH_VECTOR} is missing`)]
  if (column.type !== 'tsvector' || column.generated === undefined)
    return [of('otherVector', `${name}.${SEARCH_VECTOR} is not a generated tsvector`, 'drop it; '), ...index]
  const isEqual = wanted === undefined || wanted === column.generated
  const outdated = of('outdatedVector', `${name}.${SEARCH_VECTOR} has other sources`)
  return [...(isEqual ? [] : [outdated]), ...index]
}

/**
 * Returns the expression of a search vector in PostgreSQL's canonical form. PostgreSQL parses it in a
 * temporary table, which is dropped at the end of the transaction. Returns undefined if temporary tables are
 * not allowed, for example on a replica. Then only the files and their checksums are compared.
 */
export async function storedVector(
  table: TableName,
  vector: string,
  live: LiveSchema,
): Promise<string | undefined> {
  const source = quoteTable({ name: table.name, schema: table.schema ?? live.schema }, postgres)
  const column = postgres.text.quote(SEARCH_VECTOR)
  await live.rows('BEGIN')
  try {
    await live.rows(`CREATE TEMPORARY TABLE ${SCRATCH} (LIKE ${source}) ON COMMIT DROP`)
    await live.rows(
      `ALTER TABLE pg_temp.${SCRATCH} DROP COLUMN IF EXISTS ${column}, ADD COLUMN ${column} tsvector GENERATED ALWAYS AS (${vector}) STORED`,
    )
    const [row] = await live.rows(
      `SELECT pg_get_expr(adbin, adrelid) AS made FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
       WHERE adrelid = 'pg_temp.${SCRATCH}'::regclass AND attname = '${SEARCH_VECTOR}'`,
    )
    return typeof row?.made === 'string' ? row.made : undefined
  } catch {
    return undefined
  } finally {
    await live.rows('ROLLBACK')
  }
}

const SCRATCH = 'ashlar_search_vector'
