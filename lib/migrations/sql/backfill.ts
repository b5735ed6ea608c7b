import { Cursor, hasWords, indexOfWords, listOf } from './cursor.js'
import type { Script, Statement } from './split-statements.js'
import type { Token } from './tokenize.js'

/**
 * The `-- ashlar:backfill` comment of a file, whose only statement runs for successive parts of its table.
 */
export interface Backfill {
  /** The maximum number of rows in a chunk. */
  readonly chunk: number
  /** The part of the comment that is invalid. */
  readonly problem: string | undefined
}

const MARK = /^(?:--|#|\/\*)\s*ashlar:backfill\b(.*?)(?:\*\/)?$/s
const DEFAULT_CHUNK = 1_000
const MAX_ROWS = 100_000

/** Returns undefined if the file is not a backfill. */
export function backfillOf({ comments }: Pick<Script, 'comments'>): Backfill | undefined {
  const [mark] = comments.flatMap((comment) => MARK.exec(comment) ?? []).slice(1)
  if (mark === undefined) return undefined
  const words = mark.split(/\s+/).filter((word) => word !== '')
  const chunk = words.length === 0 ? DEFAULT_CHUNK : Number(/^chunk=(\d{1,6})$/.exec(words.join(' '))?.[1])
  if (chunk >= 1 && chunk <= MAX_ROWS) return { chunk, problem: undefined }
  return {
    chunk: DEFAULT_CHUNK,
    problem: `ashlar:backfill takes chunk=<rows>, from 1 to ${MAX_ROWS}, and nothing else`,
  }
}

/** An UPDATE of one table that can be limited to some of its rows. */
export interface BoundedUpdate {
  /** The parts of the table's name. */
  readonly table: readonly string[]
  /** The qualifier of the table's columns, as written. */
  readonly alias: string
  /** The columns that it sets. */
  readonly sets: readonly string[]
  /** Returns the UPDATE, limited to the rows that match a condition. */
  readonly within: (condition: string) => string
}

/** The clauses that limit the whole UPDATE, or return its rows. */
const WHOLE = ['LIMIT', 'ORDER', 'RETURNING'] as const

/** Returns the columns on the left side of `a = …`, `t.a = …` or `(a, b) = …`. */
function columnsOf(assignment: readonly Token[]): readonly string[] {
  const cursor = new Cursor(assignment)
  const several = cursor.inParentheses()
  const names =
    several === undefined ? [cursor.path()] : listOf(several).map((part) => new Cursor(part).path())
  return names.flatMap((path) => path?.at(-1) ?? [])
}

/**
 * Parses an UPDATE of a single table that names the columns it sets and has no LIMIT, ORDER BY or RETURNING.
 * Returns undefined for other statements.
 */
export function boundedUpdate({ text, tokens }: Statement): BoundedUpdate | undefined {
  const cursor = new Cursor(tokens)
  if (!cursor.take('UPDATE') || WHOLE.some((word) => hasWords(tokens, word))) return undefined
  cursor.skip('ONLY', 'LOW_PRIORITY')
  const table = cursor.path()
  const named = tokens.length - cursor.rest.length - 1
  cursor.take('AS')
  if (table !== undefined && !cursor.sees('SET')) cursor.name()
  const alias = tokens[tokens.length - cursor.rest.length - 1]
  const [first, last] = [tokens[0], tokens.at(-1)]
  // Comments that the server executes are not tokens. If they begin or end the statement, its parts are
  // unknown.
  if (!cursor.sees('SET') || table === undefined || alias === undefined || tokens[named] === undefined)
    return undefined
  if (first === undefined || last === undefined || text.length !== last.end - first.start) return undefined
  const where = tokens[indexOfWords(tokens, 'WHERE')]
  const at = (offset: number) => offset - first.start
  const changes = where === undefined ? text : text.slice(0, at(where.start)).trimEnd()
  const condition = where === undefined ? '' : `(${text.slice(at(where.end)).trim()}\n) AND `
  cursor.take('SET')
  const sets = listOf(cursor.rest).flatMap(columnsOf)
  return { table, alias: alias.text, sets, within: (rows) => `${changes}\nWHERE ${condition}${rows}` }
}
