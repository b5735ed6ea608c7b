import type { Syntax } from '../../sql/syntax.js'
import type { Statement } from '../../sql/split-statements.js'
import type { Token } from '../../sql/tokenize.js'
import type { ClientCommand, Elsewhere, PrimaryKey } from '../../messages/lint-messages.js'
import type { Rule } from './lint-rule.js'

/** The engine's own lint rules, and the properties that common rules use. */
export interface EngineLint {
  readonly syntax: Syntax
  readonly rules: readonly Rule[]
  /** Returns true if the statement begins or ends a transaction in this engine's own syntax. */
  readonly controlsTransaction: (statement: Statement) => boolean
  /** The reason why a file must not commit, and the statements that do. */
  readonly commits: string
  /** Returns the finding for a command of the engine's command line client. */
  readonly clientCommand: (statement: Statement) => ClientCommand | undefined
  /**
   * Returns the finding for a statement that affects more than this database.
   *
   * @param before - the earlier statements of the file.
   */
  readonly leavesTheDatabase: (statement: Statement, before: readonly Statement[]) => Elsewhere | undefined
  /** The types of objects outside the database that CREATE and DROP can name. */
  readonly serverWide: readonly string[]
  readonly isNameTooLong: (name: string) => boolean
  /** The maximum length of names, such as `63 bytes`. */
  readonly longestName: string
  /**
   * Returns true if the statement specifies its algorithm, so that the server rejects it instead of copying
   * or locking the table.
   */
  readonly forbidsCopies: (statement: Statement) => boolean
  readonly changesColumnType: (action: readonly Token[]) => boolean
  /** The effect of adding a primary key to a table with rows. */
  readonly primaryKey: PrimaryKey
}
