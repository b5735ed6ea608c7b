import type { Rule } from '../../lint/rules/lint-rule.js'
import { Cursor, hasWords, isWord } from '../../sql/cursor.js'
import type { Statement } from '../../sql/split-statements.js'
import { nonTransactionalOf } from '../sql/non-transactional.js'

/** Statements that PostgreSQL cannot run as written. */
export const POSTGRES_RULES: readonly Rule[] = [
  {
    name: 'non-transactional',
    level: 'refuse',
    dialect: 'postgres',
    bothWays: true,
    check: (statement, { statements }) =>
      statements.length > 1 && nonTransactionalOf(statement) !== undefined,
  },
  {
    name: 'index-needs-a-name',
    level: 'refuse',
    dialect: 'postgres',
    bothWays: true,
    check: (statement) => {
      const nonTransactional = nonTransactionalOf(statement)
      return nonTransactional?.kind === 'createIndex' && nonTransactional.index === ''
    },
  },
  {
    name: 'enum-value-in-use',
    level: 'danger',
    dialect: 'postgres',
    bothWays: true,
    check: (statement, { statements, ddlBefore }) => {
      if (['COMMENT', 'ALTER TYPE'].some((words) => new Cursor(statement.tokens).sees(...words.split(' '))))
        return undefined
      const created = statements.map(createdType)
      const value = ddlBefore
        .map(addedValue)
        .find((added) => added && !created.includes(added.type) && uses(statement, added.value))?.value
      return value !== undefined && { value }
    },
  },
]

function createdType({ tokens }: Statement): string | undefined {
  const cursor = new Cursor(tokens)
  return cursor.take('CREATE', 'TYPE') ? cursor.name() : undefined
}

/** Returns the type, and the value with its quotes, that a statement adds to an enum. */
function addedValue({ tokens }: Statement): { readonly type: string; readonly value: string } | undefined {
  const cursor = new Cursor(tokens)
  if (!cursor.take('ALTER', 'TYPE')) return undefined
  const type = cursor.name() ?? ''
  if (!cursor.take('ADD', 'VALUE')) return undefined
  cursor.take('IF', 'NOT', 'EXISTS')
  const [value] = cursor.rest
  return value?.kind === 'string' ? { type, value: value.text } : undefined
}

/**
 * Returns true if a statement uses the value. The bodies of DO and of SQL functions are executed or checked
 * immediately.
 */
function uses({ tokens }: Statement, value: string): boolean {
  const isRead = isWord(tokens[0], 'DO') || hasWords(tokens, 'LANGUAGE', 'SQL')
  return tokens.some(
    ({ kind, text }) => kind === 'string' && (text === value || (isRead && text.includes(value))),
  )
}
