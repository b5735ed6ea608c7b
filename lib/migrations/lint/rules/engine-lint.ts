import type { Syntax } from '../../sql/syntax.js'
import type { Statement } from '../../sql/split-statements.js'
import type { Token } from '../../sql/tokenize.js'
import type { ClientCommand, Elsewhere, PrimaryKey } from '../../messages/lint-messages.js'
import type { Rule } from './lint-rule.js'

/** The engine's part of lint: its own rules, and its properties that the common rules need. */
export interface EngineLint {
  readonly syntax: Syntax
  readonly rules: readonly Rule[]
  /** True if the statement begins or ends a transaction in this engine's own syntax. */
  readonly controlsTransaction: (statement: Statement) => boolean
  /** The reason why a file must not commit, and which statements do. */
  readonly commits: string
  /** The finding for a statement of the engine's command line client. */
  readonly clientCommand: (statement: Statement) => ClientCommand | undefined
  /**
   * The finding for a statement of this engine that reaches beyond the database. `before` has the statements
   * of the file before it.
   */
  readonly leavesTheDatabase: (statement: Statement, before: readonly Statement[]) => Elsewhere | undefined
  /** Objects outside of the database that CREATE and DROP can name. */
  readonly serverWide: readonly string[]
  readonly isNameTooLong: (name: string) => boolean
  /** The longest name, such as `63 bytes`. */
  readonly longestName: string
  /**
   * True if the statement says how it is carried out, so that the server refuses it instead of copying or
   * locking the table.
   */
  readonly forbidsCopies: (statement: Statement) => boolean
  readonly changesColumnType: (action: readonly Token[]) => boolean
  /** The effect of adding a primary key to a table with rows. */
  readonly primaryKey: PrimaryKey
}
