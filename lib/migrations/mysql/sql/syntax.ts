import { CONSTRAINTS } from '../../sql/constraints.js'
import type { Syntax } from '../../sql/syntax.js'

/** Backticks, backslash escapes, `#` comments, and executable `/*! *\/` comments, whose content counts. */
export const mysqlSyntax: Syntax = {
  dialect: 'mysql',
  lineComment: /#|--(?=[\s\0]|$)/y,
  hasNestedComments: false,
  executableComment: /\/\*M?!\d{0,6}/y,
  stringPrefix: /[bBxXnN](?=')/y,
  stringQuotes: ["'", '"'],
  hasBackslashes: () => true,
  dollarQuote: undefined,
  nameQuote: '`',
  quotedName: /`/y,
  routines: ['FUNCTION', 'PROCEDURE', 'TRIGGER', 'EVENT', 'PACKAGE'],
  hasStatementsInParentheses: false,
  opensBlock: (word) => word === 'BEGIN',
  hasCompoundStatements: true,
  notColumns: [...CONSTRAINTS, 'INDEX', 'KEY', 'FULLTEXT', 'SPATIAL', 'PARTITION', 'PERIOD', 'SYSTEM'],
  notDroppedColumns: [
    ...['CONSTRAINT', 'INDEX', 'KEY', 'PRIMARY', 'FOREIGN', 'CHECK'],
    ...['PARTITION', 'PERIOD', 'SYSTEM'],
  ],
}
