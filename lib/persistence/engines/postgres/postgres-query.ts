import type { BoundStatement, Result, Row } from '../executor/executor.js'
import type { ReadLimit } from '../../bytes/read-limit.js'
import { PostgresMessages } from './postgres-messages.js'
import { toPostgres } from './postgres-value.js'

/** The connection that `pg` passes to a query that submits itself, such as pg-cursor's. */
export interface Connection {
  readonly stream: { readonly writable: boolean; write(bytes: Buffer): void; destroy(): void }
  readonly parsedStatements: Record<string, string | undefined>
  readonly submittedNamedStatements: Record<string, string | undefined>
  sync(): void
  sendCopyFail(reason: string): void
}

/** One statement of a query. */
export interface QueryPart extends BoundStatement {
  /** The name under which it is prepared on the connection. An empty name is parsed every time. */
  readonly name: string
}

/**
 * Runs several statements on a `pg` client in one round trip, and returns rows as PostgreSQL sends them. It
 * skips the description of columns, which the server would otherwise send every time, and `pg`'s own result
 * objects. The server stops at the first statement that fails.
 */
export class PostgresQuery {
  callback: (error: unknown, results?: readonly Result[]) => void
  readonly #parts: readonly QueryPart[]
  readonly #prepared: boolean[] = []
  readonly #results: Result[] = []
  #rows: Row[] = []

  readonly #limit: ReadLimit | undefined

  /**
   * @param done - called once with the error or the results.
   * @param limit - the maximum total size of the rows in bytes.
   */
  constructor(
    parts: readonly QueryPart[],
    done: (error: unknown, results?: readonly Result[]) => void,
    limit?: ReadLimit,
  ) {
    this.#parts = parts
    this.callback = done
    this.#limit = limit
  }

  /** `pg` records the statement with this name as parsed. */
  get name(): string {
    return this.#current.name
  }

  get text(): string {
    return this.#current.statement.text
  }

  /** True if the current statement was prepared before this query. */
  get wasPrepared(): boolean {
    return this.#prepared[this.#results.length] === true
  }

  /** Sends all statements in one write. Returns an error if values are too large for a message. */
  submit({ stream, parsedStatements, submittedNamedStatements }: Connection): Error | null {
    const messages = new PostgresMessages()
    try {
      for (const { name, statement, values } of this.#parts) {
        const wasPrepared = name !== '' && parsedStatements[name] !== undefined
        this.#prepared.push(wasPrepared)
        if (!wasPrepared) {
          // The server may have a statement with this name that `pg` no longer tracks, or that another client
          // behind the pooler prepared.
          if (name !== '') messages.close(name)
          messages.parse(name, statement.text)
        }
        messages.bind(name, values.map(toPostgres))
        messages.execute()
      }
    } catch (error) {
      return error as Error
    }
    messages.sync()
    for (const [i, { name, statement }] of this.#parts.entries())
      if (name !== '' && this.#prepared[i] === false) submittedNamedStatements[name] = statement.text
    if (stream.writable) stream.write(messages.bytes)
    return null
  }

  handleDataRow({ fields, length }: { readonly fields: Row; readonly length: number }): void {
    if (this.#limit === undefined || this.#limit.accepts(length)) this.#rows.push(fields)
    else this.#rows = []
  }

  /** Reads the number of rows from the end of the command tag, such as `SELECT 3` or `INSERT 0 1`. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#results.push({ rows: this.#rows, affected: Number(text.slice(text.lastIndexOf(' ') + 1)) || 0 })
    this.#rows = []
  }

  handleReadyForQuery(): void {
    if (this.#limit?.isExceeded === true) this.callback(this.#limit.reason)
    else this.callback(null, this.#results)
  }

  handleError(error: unknown): void {
    this.callback(error)
  }

  handleRowDescription(): void {}

  handleEmptyQuery(): void {
    this.#results.push({ rows: [], affected: 0 })
  }

  handlePortalSuspended(): void {}

  /**
   * Fails the COPY. The server ignored the sync that arrived while it waited for data, so it is sent again.
   */
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('COPY is not supported here')
    connection.sync()
  }

  handleCopyData(): void {}

  /** The statement to which the server responds. `pg` reads the name after the last one, too. */
  get #current(): QueryPart {
    return (this.#parts[this.#results.length] ?? this.#parts.at(-1)) as QueryPart
  }
}
