import { CONSTRAINTS } from '../../sql/constraints.js'
import type { Syntax } from '../../sql/syntax.js'

/** Dollar quotes, nested comments, `E''` strings and doubled quotes. */
export const postgresSyntax: Syntax = {
  dialect: 'postgres',
  lineComment: /--/y,
  hasNestedComments: true,
  executableComment: undefined,
  stringPrefix: /(?:[eEbBxXnN]|[uU]&)(?=')/y,
  stringQuotes: ["'"],
  hasBackslashes: (prefix) => prefix.toUpperCase() === 'E',
  dollarQuote: /\$(?:[\p{L}_\u0080-\uffff][\p{L}\p{N}_\u0080-\uffff]*)?\$/uy,
  nameQuote: '"',
  quotedName: /(?:[uU]&)?"/y,
  routines: ['FUNCTION', 'PROCEDURE'],
  hasStatementsInParentheses: true,
  opensBlock: (word, previous) => word === 'ATOMIC' && previous === 'BEGIN',
  hasCompoundStatements: false,
  notColumns: CONSTRAINTS,
  notDroppedColumns: ['CONSTRAINT'],
}
