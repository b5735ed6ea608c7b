import type { Syntax } from '../../sql/syntax.js'
import type { Statement } from '../../sql/statements.js'
import type { Token } from '../../sql/tokens.js'
import type { Rule } from './lint-rule.js'

/** What an engine adds to lint: rules of its own, and what the rules for every engine ask it. */
export interface EngineLint {
  readonly syntax: Syntax
  readonly rules: readonly Rule[]
  /** Whether the statement begins or ends a transaction in this engine's words, beside those that every engine has. */
  readonly controlsTransaction: (statement: Statement) => boolean
  /** What is wrong with a statement that belongs to the engine's command line client. */
  readonly clientCommand: (statement: Statement) => string | undefined
  /** What is wrong with a statement of this engine's own that reaches beyond the database. */
  readonly leavesTheDatabase: (statement: Statement) => string | undefined
  /** What CREATE and DROP make outside of the database. */
  readonly serverWide: readonly string[]
  readonly isNameTooLong: (name: string) => boolean
  /** The most that a name may have, such as `63 bytes`. */
  readonly longestName: string
  readonly changesColumnType: (action: readonly Token[]) => boolean
  /** What adding a primary key to a table with rows does, and what to do instead. */
  readonly primaryKey: string
}
