import type { EngineLint } from '../../lint/rules/engine-lint.js'
import { Cursor, hasWords, isWord } from '../../sql/cursor.js'
import type { Statement } from '../../sql/split-statements.js'
import { tokenize, type Token } from '../../sql/tokenize.js'
import { alteredColumn } from '../../sql/statement-shape.js'
import { postgresSyntax } from '../sql/syntax.js'
import { LOCK_RULES } from './lock-rules.js'
import { POSTGRES_RULES } from './postgres-rules.js'

export const postgresLint: EngineLint = {
  syntax: postgresSyntax,
  rules: [...POSTGRES_RULES, ...LOCK_RULES],
  commits: 'a file runs in its own transaction',
  controlsTransaction: ({ tokens }) => {
    const cursor = new Cursor(tokens)
    const isControl = cursor.sees('END') || cursor.sees('ABORT') || cursor.sees('PREPARE', 'TRANSACTION')
    return isControl || (cursor.sees('DO') && tokens.some(endsTransaction))
  },
  clientCommand: ({ tokens }) =>
    tokens.some(({ text, kind }) => kind === 'symbol' && text === '\\') ? { what: 'psql' } : undefined,
  leavesTheDatabase: ({ tokens }, before) => {
    if (new Cursor(tokens).sees('ALTER', 'SYSTEM')) return { what: 'server' }
    const isRefused = needsItsOwnTransaction(tokens) || dropsSlot(tokens, before)
    return isRefused ? { what: 'subscription' } : undefined
  },
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

/** Returns true if the body of a DO block ends the transaction in which the file runs. */
function endsTransaction({ kind, text }: Token): boolean {
  if (kind !== 'string') return false
  const body = /^\$[^$]*\$/.test(text)
    ? text.replaceAll(/^\$[^$]*\$|\$[^$]*\$$/g, '')
    : text.replaceAll(/^[^']*'|'$/g, '').replaceAll("''", "'")
  const tokens = tokenize(body, postgresSyntax).tokens.filter((token) => token.kind !== 'comment')
  return tokens.some(
    (token, at) =>
      (isWord(token, 'COMMIT') || isWord(token, 'ROLLBACK')) &&
      BEFORE_STATEMENT.some((word) => isWord(tokens[at - 1], word)),
  )
}

const BEFORE_STATEMENT = [';', 'BEGIN', 'THEN', 'ELSE', 'LOOP']

/** Returns true if a statement about a subscription also changes the other server. */
function needsItsOwnTransaction(tokens: readonly Token[]): boolean {
  const cursor = new Cursor(tokens)
  const says = (option: string) => {
    const at = tokens.findIndex((token) => isWord(token, option))
    const value = tokens.slice(at + 1).find((token) => !isWord(token, '='))
    return at >= 0 && ['FALSE', 'OFF', '0'].some((no) => isWord(value, no) || value?.text === no)
  }
  if (cursor.take('CREATE', 'SUBSCRIPTION')) return !says('CREATE_SLOT') && !says('CONNECT')
  if (!cursor.take('ALTER', 'SUBSCRIPTION')) return false
  if (hasWords(tokens, 'REFRESH', 'PUBLICATION')) return true
  const changes = ['SET', 'ADD', 'DROP'].some((verb) => hasWords(tokens, verb, 'PUBLICATION'))
  return changes && !says('REFRESH')
}

/**
 * Returns true if a statement drops a subscription that may have a slot on the other server, because no
 * earlier statement detached it.
 */
function dropsSlot(tokens: readonly Token[], before: readonly Statement[]): boolean {
  const cursor = new Cursor(tokens)
  if (!cursor.take('DROP', 'SUBSCRIPTION')) return false
  cursor.take('IF', 'EXISTS')
  const name = cursor.rest[0]?.text.toLowerCase()
  return !before.some(({ tokens: earlier }) => {
    const at = new Cursor(earlier)
    const isSame = at.take('ALTER', 'SUBSCRIPTION') && at.rest[0]?.text.toLowerCase() === name
    const option = earlier.findIndex((token) => isWord(token, 'SLOT_NAME'))
    return (
      isSame && option >= 0 && earlier.slice(option + 1, option + 3).some((token) => isWord(token, 'NONE'))
    )
  })
}
