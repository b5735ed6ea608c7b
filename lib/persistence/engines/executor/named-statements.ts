import type { Statement } from './executor.js'

/** Prepared statements use server memory until their connection closes, and clients choose filter texts. */
const MOST = 500

const seen = new WeakSet<Statement>()

/** The prepared statements of one connection. */
export class NamedStatements {
  readonly #names = new Set<string>()

  /** Whether to prepare this statement: not on its first run, because most filter texts are used once. */
  isWorthwhile(statement: Statement): boolean {
    if (this.#names.has(statement.name)) return true
    if (!seen.has(statement)) {
      seen.add(statement)
      return false
    }
    this.#names.add(statement.name)
    return true
  }

  /** Whether to close the connection: a new one starts with none. */
  get isFull(): boolean {
    return this.#names.size >= MOST
  }
}
