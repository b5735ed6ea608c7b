import type { EngineLint } from '../../lint/rules/engine-lint.js'
import { Cursor, isWord } from '../../sql/cursor.js'
import { mysqlSyntax } from '../sql/syntax.js'
import { forbidsCopies, MYSQL_RULES } from './mysql-rules.js'

export const mysqlLint: EngineLint = {
  syntax: mysqlSyntax,
  rules: MYSQL_RULES,
  commits:
    'MySQL commits each DDL statement separately, and the run commits each other statement with its progress',
  controlsTransaction: ({ tokens }) => {
    const cursor = new Cursor(tokens)
    if (cursor.sees('XA')) return true
    if (['LOCK', 'UNLOCK'].some((verb) => cursor.sees(verb, 'TABLES') || cursor.sees(verb, 'TABLE')))
      return true
    return cursor.sees('SET') && tokens.some((token) => isWord(token, 'AUTOCOMMIT'))
  },
  clientCommand: ({ tokens: [verb] }) => {
    if (isWord(verb, 'DELIMITER')) return { what: 'delimiter' }
    return isWord(verb, 'SOURCE') ? { what: 'source' } : undefined
  },
  leavesTheDatabase: ({ tokens }) => (new Cursor(tokens).sees('USE') ? { what: 'use' } : undefined),
  serverWide: ['DATABASE', 'TABLESPACE', 'SCHEMA'],
  isNameTooLong: (name) => [...name].length > 64,
  longestName: '64 characters',
  forbidsCopies,
  changesColumnType: ([verb]) => isWord(verb, 'MODIFY') || isWord(verb, 'CHANGE'),
  primaryKey: 'rewrites',
}
