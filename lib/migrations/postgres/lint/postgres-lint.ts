import type { EngineLint } from '../../lint/rules/engine-lint.js'
import { Cursor, hasWords } from '../../sql/cursor.js'
import { alteredColumn } from '../../sql/statement-shape.js'
import { postgresSyntax } from '../sql/syntax.js'
import { LOCK_RULES } from './lock-rules.js'
import { POSTGRES_RULES } from './postgres-rules.js'

export const postgresLint: EngineLint = {
  syntax: postgresSyntax,
  rules: [...POSTGRES_RULES, ...LOCK_RULES],
  commits: 'a file runs in a transaction of its own',
  controlsTransaction: ({ tokens }) => {
    const cursor = new Cursor(tokens)
    return cursor.sees('END') || cursor.sees('ABORT') || cursor.sees('PREPARE', 'TRANSACTION')
  },
  clientCommand: ({ tokens }) =>
    tokens.some(({ text, kind }) => kind === 'symbol' && text === '\\') ? { what: 'psql' } : undefined,
  leavesTheDatabase: ({ tokens }) =>
    new Cursor(tokens).sees('ALTER', 'SYSTEM') ? { what: 'server' } : undefined,
  serverWide: ['DATABASE', 'TABLESPACE'],
  isNameTooLong: (name) => Buffer.byteLength(name) > 63,
  longestName: '63 bytes',
  forbidsCopies: () => false,
  changesColumnType: (action) => {
    const { change = [] } = alteredColumn(action) ?? {}
    return hasWords(change.slice(0, 1), 'TYPE') || hasWords(change.slice(0, 3), 'SET', 'DATA', 'TYPE')
  },
  primaryKey: 'locks',
}
