import type { Dialect } from '../files/dialect-name.js'

/** An engine's SQL syntax, as far as it is needed to split files. The patterns are sticky. */
export interface Syntax {
  readonly dialect: Dialect
  /** The start of a comment up to the end of the line. */
  readonly lineComment: RegExp
  readonly hasNestedComments: boolean
  /** The opening of a comment whose content is executed; undefined if the engine has no such comments. */
  readonly executableComment: RegExp | undefined
  /** Letters before a quote that start another kind of literal. */
  readonly stringPrefix: RegExp
  readonly stringQuotes: readonly string[]
  /** True if a backslash escapes the next character in a literal with this prefix. */
  readonly hasBackslashes: (prefix: string) => boolean
  /**
   * The tag around a literal without escapes, such as `$body$`; undefined if the engine has no such literals.
   */
  readonly dollarQuote: RegExp | undefined
  readonly nameQuote: string
  /** The opening of a quoted name, including its quote. */
  readonly quotedName: RegExp
  /** Objects of CREATE that may have a body with semicolons. */
  readonly routines: readonly string[]
  /** True if a semicolon in parentheses does not end a statement, as in CREATE RULE. */
  readonly hasStatementsInParentheses: boolean
  /** True if `word` after `previous` opens a block of a routine. */
  readonly opensBlock: (word: string, previous: string) => boolean
  /** True if the engine has `BEGIN NOT ATOMIC` and blocks that end in END IF and the like. */
  readonly hasCompoundStatements: boolean
  /** Words that start a part of CREATE TABLE or ADD that is not a column. */
  readonly notColumns: readonly string[]
  /** Words after ALTER TABLE … DROP that drop something other than a column. */
  readonly notDroppedColumns: readonly string[]
}
