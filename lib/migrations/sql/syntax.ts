import type { Dialect } from '../files/dialect-name.js'

/** An engine's SQL syntax, as far as it is needed to split files. The patterns are sticky. */
export interface Syntax {
  readonly dialect: Dialect
  /** The start of a comment up to the end of the line. */
  readonly lineComment: RegExp
  readonly hasNestedComments: boolean
  /** The opening of a comment whose content is executed. Undefined if the engine has no such comments. */
  readonly executableComment: RegExp | undefined
  /** Letters before a quote that start another kind of literal. */
  readonly stringPrefix: RegExp
  readonly stringQuotes: readonly string[]
  /** Returns true if a backslash escapes the next character in a literal with this prefix. */
  readonly hasBackslashes: (prefix: string) => boolean
  /**
   * The tag around a literal without escapes, such as `$body$`. Undefined if the engine has no such literals.
   */
  readonly dollarQuote: RegExp | undefined
  readonly nameQuote: string
  /** The opening of a quoted name, including its quote. */
  readonly quotedName: RegExp
  /** The types of objects whose CREATE statement may have a body with semicolons. */
  readonly routines: readonly string[]
  /** True if a semicolon in parentheses does not end a statement, as in CREATE RULE. */
  readonly hasStatementsInParentheses: boolean
  /** Returns true if `word` after `previous` opens a block of a routine. */
  readonly opensBlock: (word: string, previous: string) => boolean
  /**
   * True if the engine has `BEGIN NOT ATOMIC`, and blocks that end with END IF or a similar pair of words.
   */
  readonly hasCompoundStatements: boolean
  /** The words that start a part of CREATE TABLE or ADD that is not a column. */
  readonly notColumns: readonly string[]
  /** The words after ALTER TABLE … DROP that do not name a column. */
  readonly notDroppedColumns: readonly string[]
}
