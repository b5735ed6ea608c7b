import { Unimplemented } from '../../errors.js'
import type { CelNode } from '../../resource/search/cel.js'
import type { SearchModel, SearchPart } from '../../resource/search/search-model.js'
import type { Dialect } from './dialect.js'
import { celToSql, joined } from './cel-to-sql.js'
import { postgres } from './postgres.js'

/** The column with the search vector of an INDEXED resource. */
export const SEARCH_VECTOR = 'search_vector'

/**
 * Returns the condition for rows that match a search term, and appends the term to `params`. PostgreSQL
 * matches words in web-search syntax. Other engines match a case-insensitive substring of all sources, for
 * development only.
 *
 * @param type - the resource type, for the error.
 * @throws Unimplemented if a source is only defined for PostgreSQL and this is a different engine.
 */
export function searchPredicate(
  search: SearchModel,
  type: string,
  term: string,
  dialect: Dialect,
  params: unknown[],
): string {
  if (dialect.text.containsTerm === undefined) {
    // The vector replaces `@` and `.` by spaces. Replace them in the query, too, or e-mail addresses would
    // never match.
    params.push(term.replace(/[@.]/g, ' '))
    const vector = search.strategy === 'INDEXED' ? dialect.text.quote(SEARCH_VECTOR) : vectorOf(search)
    return `${vector} @@ websearch_to_tsquery(${config(search)}, ${dialect.values.countPlaceholder(params.length)})`
  }
  const parts = search.parts.map((part) => portable(part, dialect) ?? unavailable(type))
  params.push(term)
  return dialect.text.containsTerm(joined(withSpaces(parts), dialect))
}

/** A search in one tenant's rows, sorted by an index that begins with the tenant. */
export interface OrderedSearch {
  /** The quoted table. */
  readonly table: string
  readonly name: string
  /** All conditions except the search, including the tenant. */
  readonly rest: string
  readonly search: string
  /** The terms of ORDER BY. */
  readonly order: string
}

/** The number of rows that are read in index order before the vector's index is used. */
const WALKED = 500

/**
 * Returns a FROM clause for the first page of a search by a stored vector. PostgreSQL assumes that a word is
 * equally frequent in each tenant and in the table. For a word that only other tenants use it would read all
 * rows of a large tenant in order. So the sort order is used only if it fills the page within a few rows, as
 * it does for common words. Otherwise the vector's index is used; OFFSET keeps PostgreSQL from using the
 * order there. Unused parts are not executed.
 *
 * @param limit - the placeholder of the number of rows.
 */
export const orderedSearch = (
  { table, name, rest, search, order }: OrderedSearch,
  limit: string,
  { text: { quote } }: Dialect,
): string => {
  const walked = quote('(walked)')
  const first = `SELECT * FROM ${table} WHERE ${rest} ORDER BY ${order} LIMIT ${WALKED}`
  const found = `SELECT * FROM ${table} WHERE ${rest} AND ${search} OFFSET 0`
  const isFilled = `(SELECT count(*) FROM ${walked}) >= ${limit}`
  return `(WITH ${walked} AS MATERIALIZED (SELECT * FROM (${first}) AS ${name} WHERE ${search} LIMIT ${limit})
    SELECT * FROM ${walked} WHERE ${isFilled}
    UNION ALL (SELECT * FROM (${found}) AS ${name} WHERE NOT ${isFilled} ORDER BY ${order} LIMIT ${limit})) AS ${name}`
}

/**
 * Returns the tsvector expression of a row, with `@` and `.` in every source replaced by spaces. It is
 * immutable, so that a column can be generated from it. PostgreSQL only.
 */
export function vectorOf(search: SearchModel): string {
  return `to_tsvector(${config(search)}, translate(${withSpaces(search.parts.map(inPostgres)).join(' || ')}, '@.', '  '))`
}

const config = ({ textConfig }: SearchModel): string => `${postgres.text.literal(textConfig)}::regconfig`

/** Reads NULL as an empty string, because concatenation with NULL would hide the whole row. */
function inPostgres(part: SearchPart): string {
  if (part.kind === 'field') return `COALESCE(${postgres.text.quote(part.field.column)}, '')`
  return part.postgres === undefined
    ? celToSql(part.cel as CelNode, postgres)
    : `COALESCE((${part.postgres})::text, '')`
}

function portable(part: SearchPart, dialect: Dialect): string | undefined {
  if (part.kind === 'field') return `COALESCE(${dialect.text.quote(part.field.column)}, '')`
  return part.cel && celToSql(part.cel, dialect)
}

const withSpaces = (parts: readonly string[]): string[] =>
  parts.flatMap((part, i) => (i === 0 ? [part] : ["' '", part]))

function unavailable(type: string): never {
  throw new Unimplemented(`full-text search for ${type} requires PostgreSQL`)
}
