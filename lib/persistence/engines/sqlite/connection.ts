import { readSqliteText, type SqliteText } from './statement-text.js'
import type { SqliteValue } from './values.js'

export interface SqliteOutcome {
  /** Arrays or objects, as requested; none for a write without RETURNING. */
  readonly rows: readonly unknown[]
  /** The number of changed rows, or of returned rows. */
  readonly affected: number
  /** `rowid` of the last INSERT; undefined when rows are returned. */
  readonly lastId: number | undefined
}

/** One open database file, the same on both engines. It does not know about transactions. */
export interface SqliteConnection {
  run(text: string, values: readonly SqliteValue[], shape: 'array' | 'object'): Promise<SqliteOutcome>
  /**
   * Carries out a PRAGMA that changes how statements are prepared. It takes effect when it is prepared, so it
   * is never kept.
   */
  setting(text: string): Promise<void>
  /** Makes the running statement fail with SQLITE_INTERRUPT; does nothing on a synchronous engine. */
  interrupt(): void
  close(): Promise<void>
}

/** A prepared statement, and what is known of its text. */
export interface Prepared<S> extends SqliteText {
  readonly statement: S
}

/** Prepared statements by text; the least recently used is dropped first. */
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

  /** Keeps a prepared statement. Two callers may have prepared one text at once: the first stays. */
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

/** @throws TypeError for text that an engine would run only in part. */
export function checkedSqliteText(text: string): SqliteText {
  const known = readSqliteText(text)
  if (known.several)
    throw new TypeError('SQLite runs one statement at a time: send the second statement separately')
  return known
}

/** The error if a placeholder would be left NULL, or a value has no placeholder. */
export const wrongCount = (known: SqliteText, values: readonly SqliteValue[]): RangeError =>
  new RangeError(`the statement takes ${known.placeholders} value(s) but was given ${values.length}`)
