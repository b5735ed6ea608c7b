import {
  checkedSqliteText,
  PreparedStatements,
  type Prepared,
  type SqliteConnection,
  type SqliteOutcome,
  wrongCount,
} from './connection.js'
import type { SqliteValue } from './values.js'

/** The part of `better-sqlite3` that Ashlar uses. */
export type BetterSqlite3Module = new (file: string, options: { timeout: number }) => BetterDatabase

interface BetterDatabase {
  prepare(text: string): BetterStatement
  exec(text: string): unknown
  close(): void
}

interface BetterStatement {
  readonly reader: boolean
  raw(on: boolean): BetterStatement
  all(...values: readonly unknown[]): unknown[]
  run(...values: readonly unknown[]): { changes: number; lastInsertRowid: number | bigint }
}

/**
 * Opens a file with the synchronous `better-sqlite3` package. Each statement blocks the process while it
 * runs.
 */
export function openBetterSqlite3(
  module: BetterSqlite3Module,
  file: string,
  busyTimeoutMs: number,
): SqliteConnection {
  return new BetterSqlite3Connection(new module(file, { timeout: busyTimeoutMs }))
}

class BetterSqlite3Connection implements SqliteConnection {
  readonly #database: BetterDatabase
  readonly #prepared = new PreparedStatements<BetterStatement>(() => {})

  constructor(database: BetterDatabase) {
    this.#database = database
  }

  async run(text: string, values: readonly SqliteValue[], shape: 'array' | 'object'): Promise<SqliteOutcome> {
    const prepared = this.#prepared.get(text) ?? this.#prepare(text)
    if (prepared.placeholders !== values.length) throw wrongCount(prepared, values)
    const { statement } = prepared
    const bound = values.map(asInteger)
    if (statement.reader) {
      const rows = statement.raw(shape === 'array').all(...bound)
      return { rows, affected: rows.length, lastId: undefined }
    }
    const { changes, lastInsertRowid } = statement.run(...bound)
    return { rows: [], affected: changes, lastId: Number(lastInsertRowid) }
  }

  /** Checks the SQL before it is prepared, so that errors are the same on both engines. */
  #prepare(text: string): Prepared<BetterStatement> {
    const known = checkedSqliteText(text)
    return this.#prepared.keep(text, this.#database.prepare(text), known)
  }

  async setting(text: string): Promise<void> {
    this.#database.exec(text)
  }

  interrupt(): void {}

  close(): Promise<void> {
    this.#prepared.clear()
    this.#database.close()
    return Promise.resolve()
  }
}

/** Binds 32-bit integers as integers, as `sqlite3` does. `better-sqlite3` binds every number as a float. */
function asInteger(value: SqliteValue): SqliteValue | bigint {
  return typeof value === 'number' && (value | 0) === value ? BigInt(value) : value
}
