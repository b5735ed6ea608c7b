import type { EngineLint } from '../../lint/rules/engine-lint.js'
import { Cursor, isWord } from '../../sql/cursor.js'
import { mysqlSyntax } from '../sql/syntax.js'
import { forbidsCopies, MYSQL_RULES } from './mysql-rules.js'

export const mysqlLint: EngineLint = {
  syntax: mysqlSyntax,
  rules: MYSQL_RULES,
  commits: 'MySQL commits each DDL statement by itself, and the run commits each other one with its progress',
  controlsTransaction: ({ tokens }) => {
    const cursor = new Cursor(tokens)
    if (cursor.sees('XA')) return true
    if (['LOCK', 'UNLOCK'].some((verb) => cursor.sees(verb, 'TABLES') || cursor.sees(verb, 'TABLE')))
      return true
    return cursor.sees('SET') && tokens.some((token) => isWord(token, 'AUTOCOMMIT'))
  },
  clientCommand: ({ tokens: [verb] }) => {
    if (isWord(verb, 'DELIMITER'))
      return 'DELIMITER belongs to the mysql program, not to SQL: take it out, BEGIN … END bodies are recognised without it'
    return isWord(verb, 'SOURCE')
      ? 'SOURCE belongs to the mysql program, not to SQL: put the statements here'
      : undefined
  },
  leavesTheDatabase: ({ tokens }) =>
    new Cursor(tokens).sees('USE')
      ? 'a migration stays in the database of its connection string: take the USE out'
      : undefined,
  serverWide: ['DATABASE', 'TABLESPACE', 'SCHEMA'],
  isNameTooLong: (name) => [...name].length > 64,
  longestName: '64 characters',
  forbidsCopies,
  changesColumnType: ([verb]) => isWord(verb, 'MODIFY') || isWord(verb, 'CHANGE'),
  primaryKey: 'rewrites the table in the order of the new key: plan it for a quiet hour, or make a new table',
}
