import type { Result, Row, Statement } from '../executor/executor.js'
import { toPostgres } from './postgres-value.js'

/** The interface that `pg` gives to a query that submits itself, as pg-cursor does. */
export interface Connection {
  readonly stream: { cork(): void; uncork(): void; destroy(): void }
  readonly parsedStatements: Record<string, string | undefined>
  readonly submittedNamedStatements: Record<string, string | undefined>
  parse(statement: { readonly name: string; readonly text: string }): void
  bind(portal: {
    readonly statement: string
    readonly values: readonly unknown[]
    readonly valueMapper: (value: unknown) => string | Buffer | null
  }): void
  execute(portal: object): void
  close(statement: { readonly type: 'S'; readonly name: string }): void
  sync(): void
  sendCopyFail(reason: string): void
}

/**
 * One statement on a `pg` client, with its rows as PostgreSQL sent them. It skips what nothing here reads: the
 * description of the columns, which the server would build and send every time, and `pg`'s own result.
 */
export class PostgresQuery {
  /** `pg` marks a statement with this name as parsed; '' is the unnamed one, parsed every time. */
  readonly name: string
  readonly text: string
  /** Whether the server had already prepared it. */
  wasPrepared = false
  callback: (error: unknown, result?: Result) => void
  readonly #values: readonly unknown[]
  readonly #rows: Row[] = []
  #affected = 0
  #failure: unknown

  /** @param done - called once, with the error or the result. */
  constructor(
    { name, text }: Statement,
    values: readonly unknown[],
    isKept: boolean,
    done: (error: unknown, result?: Result) => void,
  ) {
    this.name = isKept ? name : ''
    this.text = text
    this.#values = values
    this.callback = done
  }

  submit(connection: Connection): Error | null {
    const { name, text } = this
    const { stream } = connection
    stream.cork()
    this.wasPrepared = name !== '' && connection.parsedStatements[name] !== undefined
    try {
      if (!this.wasPrepared) {
        // The server may have a statement of this name: one that `pg` was told to forget, or another client's behind a
        // pooler.
        if (name !== '') connection.close({ type: 'S', name })
        connection.parse({ name, text })
        if (name !== '') connection.submittedNamedStatements[name] = text
      }
      connection.bind({ statement: name, values: this.#values, valueMapper: toPostgres })
      connection.execute(EVERY_ROW)
    } catch (error) {
      this.#failure = error // Values too large for one message. The parts that were already sent must get a response.
    }
    connection.sync()
    stream.uncork()
    return null
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#rows.push(fields)
  }

  /** The tag ends in the count: `SELECT 3`, `INSERT 0 1`. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#affected = Number(text.slice(text.lastIndexOf(' ') + 1)) || 0
  }

  handleReadyForQuery(): void {
    if (this.#failure !== undefined) this.callback(this.#failure)
    else this.callback(null, { rows: this.#rows, affected: this.#affected })
  }

  handleError(error: unknown): void {
    this.callback(error)
  }

  handleRowDescription(): void {}

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  /** The server has overlooked the sync that came while it waited for rows. */
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('nothing is copied here')
    connection.sync()
  }

  handleCopyData(): void {}
}

const EVERY_ROW = {}
