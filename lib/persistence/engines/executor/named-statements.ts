import type { Statement } from './executor.js'

/** Prepared statements cost the server memory until their connection closes, and filter texts are a client's to choose. */
const MOST = 500

const seen = new WeakSet<Statement>()

/** Which statements one connection has prepared. */
export class NamedStatements {
  readonly #names = new Set<string>()

  /** Whether to prepare this one: not when it is run for the first time, as most filter texts never come again. */
  isWorthwhile(statement: Statement): boolean {
    if (this.#names.has(statement.name)) return true
    if (!seen.has(statement)) {
      seen.add(statement)
      return false
    }
    this.#names.add(statement.name)
    return true
  }

  /** Time to close the connection: a new one starts with none. */
  get isFull(): boolean {
    return this.#names.size >= MOST
  }
}
