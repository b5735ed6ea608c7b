import type { Database, RunResult, Statement } from 'sqlite3'
import {
  checkedSqliteText,
  PreparedStatements,
  type Prepared,
  type SqliteConnection,
  type SqliteOutcome,
  wrongCount,
} from './connection.js'
import type { SqliteValue } from './values.js'

/** The part of `sqlite3` that Ashlar uses. */
export interface Sqlite3Module {
  readonly Database: new (file: string, done: (error: Error | null) => void) => Database
}

/** Opens a file with the asynchronous `sqlite3` package. Statements run in the thread pool. */
export async function openSqlite3(
  module: Sqlite3Module,
  file: string,
  busyTimeoutMs: number,
): Promise<SqliteConnection> {
  const database = await new Promise<Database>((resolve, reject) => {
    const opening: Database = new module.Database(file, (error) =>
      error === null ? resolve(opening) : reject(error),
    )
  })
  database.configure('busyTimeout', busyTimeoutMs)
  return new Sqlite3Connection(database)
}

class Sqlite3Connection implements SqliteConnection {
  readonly #database: Database
  readonly #prepared = new PreparedStatements<Statement>((statement) => statement.finalize())

  constructor(database: Database) {
    this.#database = database
  }

  run(text: string, values: readonly SqliteValue[], shape: 'array' | 'object'): Promise<SqliteOutcome> {
    const prepared = this.#prepared.get(text)
    if (prepared !== undefined) return execute(prepared, values, shape)
    return this.#prepare(text).then((fresh) => execute(fresh, values, shape))
  }

  setting(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#database.exec(text, (error) => (error === null ? resolve() : reject(error)))
    })
  }

  interrupt(): void {
    this.#database.interrupt()
  }

  close(): Promise<void> {
    this.#prepared.clear()
    return new Promise((resolve, reject) => {
      this.#database.close((error) => (error === null ? resolve() : reject(error)))
    })
  }

  async #prepare(text: string): Promise<Prepared<Statement>> {
    const known = checkedSqliteText(text)
    const statement = await new Promise<Statement>((resolve, reject) => {
      const preparing = this.#database.prepare(text, (error: Error | null) =>
        error === null ? resolve(preparing) : reject(error),
      )
    })
    return this.#prepared.keep(text, statement, known)
  }
}

const NONE: readonly unknown[] = []

/** Runs a statement. `all` reads to the end and so leaves no cursor open, unlike `get`. */
function execute(
  prepared: Prepared<Statement>,
  values: readonly SqliteValue[],
  shape: 'array' | 'object',
): Promise<SqliteOutcome> {
  return new Promise((resolve, reject) => {
    if (prepared.placeholders !== values.length) throw wrongCount(prepared, values)
    const { statement } = prepared
    // A rejected COMMIT stays active until it is reset. Until then an interrupt would affect all other
    // statements.
    const fail = (error: Error) => statement.reset(() => reject(error))
    if (prepared.returnsRows) {
      statement.all<Readonly<Record<string, unknown>>>(values, (error, found) => {
        // `sqlite3` only returns rows as objects, whose properties are in select order.
        const rows = shape === 'object' || error !== null ? found : found.map(Object.values<unknown>)
        if (error === null) resolve({ rows, affected: rows.length, lastId: undefined })
        else fail(error)
      })
      return
    }
    statement.run(values, function (this: RunResult, error: Error | null) {
      if (error === null) resolve({ rows: NONE, affected: this.changes, lastId: this.lastID })
      else fail(error)
    })
  })
}
