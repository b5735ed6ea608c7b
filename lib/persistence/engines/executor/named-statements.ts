import type { Statement } from './executor.js'

/**
 * Bounds server memory: a prepared statement uses it until the connection closes, and clients choose the
 * filters.
 */
const MAX = 500

const seen = new WeakSet<Statement>()

/** Closes prepared statements, if the driver can. */
export interface Closing {
  /** The maximum number of prepared statements. One more closes the least recently used. */
  readonly most: number
  readonly close: (statement: Statement) => void
}

/** The prepared statements of one connection. */
export class NamedStatements {
  /** By name; the most recently used statement is last. */
  readonly #kept = new Map<string, Statement>()

  /** @param closing - undefined if statements can only be closed together with their connection. */
  constructor(private readonly closing?: Closing) {}

  /** True if the statement should be prepared. False on its first run, because most filters are used once. */
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

  /** Closes all prepared statements. */
  closeAll(): void {
    for (const statement of this.#kept.values()) this.#close(statement)
  }

  #close(statement: Statement): void {
    this.#kept.delete(statement.name)
    this.closing?.close(statement)
  }

  /** True if the connection should be closed: a new connection starts without prepared statements. */
  get isFull(): boolean {
    return this.closing === undefined && this.#kept.size >= MAX
  }
}
