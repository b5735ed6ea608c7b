import type { Statement } from './executor.js'

/** Prepared statements use server memory until their connection closes, and clients choose filter texts. */
const MAX = 500

const seen = new WeakSet<Statement>()

/** Closes a prepared statement, if the driver can. */
export interface Closing {
  /** So many are kept: the one that was used longest ago is closed for another. */
  readonly most: number
  readonly close: (statement: Statement) => void
}

/** The prepared statements of one connection. */
export class NamedStatements {
  /** By name, the one that was used last at the end. */
  readonly #kept = new Map<string, Statement>()

  /** @param closing - undefined where none can be closed before its connection. */
  constructor(private readonly closing?: Closing) {}

  /** True to prepare this statement: not on its first run, because most filter texts are used once. */
  isWorthwhile(statement: Statement): boolean {
    const { name } = statement
    if (this.#kept.has(name)) {
      if (this.closing !== undefined) {
        this.#kept.delete(name)
        this.#kept.set(name, statement)
      }
      return true
    }
    if (!seen.has(statement)) {
      seen.add(statement)
      return false
    }
    this.#kept.set(name, statement)
    if (this.closing !== undefined && this.#kept.size > this.closing.most)
      for (const oldest of this.#kept.values()) {
        this.#close(oldest)
        break
      }
    return true
  }

  /** Closes all of them. */
  closeAll(): void {
    for (const statement of this.#kept.values()) this.#close(statement)
  }

  #close(statement: Statement): void {
    this.#kept.delete(statement.name)
    this.closing?.close(statement)
  }

  /** True to close the connection: a new one starts with none. */
  get isFull(): boolean {
    return this.closing === undefined && this.#kept.size >= MAX
  }
}
