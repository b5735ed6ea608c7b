import type { Statement } from './executor.js'

/**
 * Limits server memory. A prepared statement uses memory until the connection closes, and clients choose the
 * filters.
 */
const MAX = 500

const seen = new WeakSet<Statement>()

/** Closes prepared statements, if the driver supports it. */
export interface Closing {
  /** The maximum number of prepared statements. Beyond it, the least recently used one is closed. */
  readonly most: number
  readonly close: (statement: Statement) => void
}

/** The prepared statements of one connection. */
export class NamedStatements {
  /** Statements by name. The most recently used one is last. */
  readonly #kept = new Map<string, Statement>()

  /**
   * @param closing - undefined if statements only close with their connection.
   */
  constructor(private readonly closing?: Closing) {}

  /**
   * Returns true if the statement should be prepared. Returns false on its first run, because most filters
   * are used only once.
   */
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

  /** True if the connection should be closed, because a new one starts without prepared statements. */
  get isFull(): boolean {
    return this.closing === undefined && this.#kept.size >= MAX
  }
}
