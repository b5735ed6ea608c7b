import { readSqliteText, type SqliteText } from './statement-text.js'
import type { SqliteValue } from './values.js'

export interface SqliteOutcome {
  /** Arrays or objects, as requested. Empty for a write without RETURNING. */
  readonly rows: readonly unknown[]
  /** The number of changed or returned rows. */
  readonly affected: number
  /** The `rowid` of the last INSERT. Undefined if rows are returned. */
  readonly lastId: number | undefined
}

/** An open database file, with the same behavior on both engines. It does not handle transactions. */
export interface SqliteConnection {
  run(text: string, values: readonly SqliteValue[], shape: 'array' | 'object'): Promise<SqliteOutcome>
  /**
   * Runs a PRAGMA that changes how statements are prepared. It takes effect when it is prepared, so it is
   * never cached.
   */
  setting(text: string): Promise<void>
  /** Makes the running statement fail with SQLITE_INTERRUPT. Has no effect on a synchronous engine. */
  interrupt(): void
  close(): Promise<void>
}

/** A prepared statement and the facts about its SQL. */
export interface Prepared<S> extends SqliteText {
  readonly statement: S
}

/** Caches prepared statements by SQL. The least recently used one is removed first. */
export class PreparedStatements<S> {
  readonly #prepared = new Map<string, Prepared<S>>()

  constructor(
    private readonly drop: (statement: S) => void,
    private readonly limit = 256,
  ) {}

  get(text: string): Prepared<S> | undefined {
    const found = this.#prepared.get(text)
    if (found === undefined || this.#prepared.size < this.limit / 2) return found
    this.#prepared.delete(text)
    this.#prepared.set(text, found)
    return found
  }

  /**
   * Caches a prepared statement. If two callers prepare the same SQL concurrently, the first statement is
   * used.
   */
  keep(text: string, statement: S, known: SqliteText): Prepared<S> {
    const twin = this.#prepared.get(text)
    if (twin !== undefined) {
      this.drop(statement)
      return twin
    }
    const prepared = { ...known, statement }
    this.#prepared.set(text, prepared)
    for (const [oldest, { statement: unused }] of this.#prepared) {
      if (this.#prepared.size <= this.limit) break
      this.#prepared.delete(oldest)
      this.drop(unused)
    }
    return prepared
  }

  clear(): void {
    for (const { statement } of this.#prepared.values()) this.drop(statement)
    this.#prepared.clear()
  }
}

/**
 * Checks a statement and returns the facts about it.
 *
 * @throws TypeError if an engine would run only a part of the SQL.
 */
export function checkedSqliteText(text: string): SqliteText {
  const known = readSqliteText(text)
  if (known.several)
    throw new TypeError('SQLite runs one statement at a time: send the second statement separately')
  return known
}

/** Returns the error for a placeholder without a value, or a value without a placeholder. */
export const wrongCount = (known: SqliteText, values: readonly SqliteValue[]): RangeError =>
  new RangeError(`the statement takes ${known.placeholders} value(s) but was given ${values.length}`)
