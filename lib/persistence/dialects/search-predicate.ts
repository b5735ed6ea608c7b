import { Unimplemented } from '../../errors.js'
import type { CelNode } from '../../resource/search/cel.js'
import type { SearchModel, SearchPart } from '../../resource/search/search-model.js'
import type { Dialect } from './dialect.js'
import { celToSql, joined } from './cel-to-sql.js'
import { postgres } from './postgres.js'

/** The stored vector of an INDEXED resource. */
export const SEARCH_VECTOR = 'search_vector'

/**
 * SQL that is true for the rows that a search term finds. Appends the term to `params`. PostgreSQL matches
 * words of the web-search syntax. Elsewhere it is a case-insensitive substring of all sources, for
 * development.
 * @param type - resource type, for the error.
 * @throws Unimplemented when a source exists for PostgreSQL alone and this is not PostgreSQL.
 */
export function searchPredicate(
  search: SearchModel,
  type: string,
  term: string,
  dialect: Dialect,
  params: unknown[],
): string {
  if (dialect.text.containsTerm === undefined) {
    // The vector's `@` and `.` are spaces, so the query's have to be too, or no e-mail address is ever found.
    params.push(term.replace(/[@.]/g, ' '))
    const vector = search.strategy === 'INDEXED' ? dialect.text.quote(SEARCH_VECTOR) : vectorOf(search)
    return `${vector} @@ websearch_to_tsquery(${config(search)}, ${dialect.values.countPlaceholder(params.length)})`
  }
  const parts = search.parts.map((part) => portable(part, dialect) ?? unavailable(type))
  params.push(term)
  return dialect.text.containsTerm(joined(withSpaces(parts), dialect))
}

/** A search in the rows of one tenant, in the order of an index that begins with the tenant. */
export interface OrderedSearch {
  /** Quoted, and the name that qualifies its columns. */
  readonly table: string
  readonly name: string
  /** All conditions but the one of the search; the tenant is among them. */
  readonly rest: string
  readonly search: string
  /** The text after ORDER BY. */
  readonly order: string
}

/** The number of rows that are read in their order before the vector's index is used. */
const WALKED = 500

/**
 * The FROM clause for the first rows of a search by a stored vector. PostgreSQL assumes that a word is as
 * frequent in each tenant as in the table, and would read all rows of a large tenant in their order for a
 * word that only others use. So their order is used only if it fills the page within a few rows, as for
 * common words; otherwise the vector's index is, which OFFSET separates from the order. A part that is not
 * needed is not run.
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
 * The tsvector of a row, with `@` and `.` of every source as spaces. The expression is immutable, so a column
 * can be generated from it. PostgreSQL only.
 */
export function vectorOf(search: SearchModel): string {
  return `to_tsvector(${config(search)}, translate(${withSpaces(search.parts.map(inPostgres)).join(' || ')}, '@.', '  '))`
}

const config = ({ textConfig }: SearchModel): string => `${postgres.text.literal(textConfig)}::regconfig`

/** A NULL source must not hide the row, so it counts as an empty text. */
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
