import { Cursor, hasWords, indexOfWords, isWord } from '../../sql/cursor.js'
import type { Unrecoverable } from '../../messages/lint-messages.js'
import type { Rule } from '../../lint/rules/lint-rule.js'
import { mysqlSyntax } from '../sql/syntax.js'
import type { Statement } from '../../sql/split-statements.js'
import type { Token } from '../../sql/tokenize.js'
import {
  addedColumns,
  addedConstraint,
  alterTable,
  createIndex,
  createTable,
  isDdl,
} from '../../sql/statement-shape.js'
import { actionsOnOldTables, reportedBy } from '../../lint/rules/old-tables.js'

/**
 * Rules for MySQL, which commits each DDL statement separately, and copies tables where PostgreSQL only locks
 * them.
 */
export const MYSQL_RULES: readonly Rule[] = [
  {
    name: 'torn-body',
    level: 'refuse',
    dialect: 'mysql',
    bothWays: true,
    check: ({ tokens }) => isWord(tokens[0], 'END'),
  },
  {
    name: 'one-ddl-per-file',
    level: 'danger',
    dialect: 'mysql',
    bothWays: true,
    check: (statement, { ddlBefore, direction }) =>
      isDdl(statement) && ddlBefore.length > 0 && direction === 'up',
  },
  {
    name: 'unrecoverable-statement',
    level: 'danger',
    dialect: 'mysql',
    bothWays: true,
    check: (statement, { statements }) => {
      const what = unrecoverable(statement)
      return what && { what, isAlone: statements.length === 1 }
    },
  },
  {
    name: 'session-state',
    level: 'danger',
    dialect: 'mysql',
    bothWays: true,
    check: ({ tokens }, { statements }) =>
      statements.length > 1 && (sets(tokens) || isWord(tokens[0], 'PREPARE') || isWord(tokens[0], 'EXECUTE')),
  },
  {
    name: 'algorithm-copy',
    level: 'danger',
    dialect: 'mysql',
    check: ({ tokens }) => setting(tokens, 'ALGORITHM', ['COPY']),
  },
  {
    name: 'locking-a-table',
    level: 'danger',
    dialect: 'mysql',
    check: ({ tokens }) => setting(tokens, 'LOCK', ['SHARED', 'EXCLUSIVE']) && { isOption: true },
  },
  {
    name: 'adding-foreign-key-constraint',
    level: 'danger',
    ofCopies: true,
    dialect: 'mysql',
    check: reportedBy((action) => addedConstraint(action)?.kind === 'FOREIGN' && { isCopied: true }),
  },
  {
    name: 'rebuilding-a-table',
    level: 'danger',
    ofCopies: true,
    dialect: 'mysql',
    check: (statement, file) => {
      const converts = actionsOnOldTables(statement, file).some(
        (action) => new Cursor(action).sees('CONVERT', 'TO') || setting(action, 'ENGINE', undefined),
      )
      const isFullText =
        createIndex(statement) !== undefined &&
        ['FULLTEXT', 'SPATIAL'].some((word) => hasWords(statement.tokens, word))
      const adds = actionsOnOldTables(statement, file).some((action) =>
        ['FULLTEXT', 'SPATIAL'].some((word) => new Cursor(action).sees('ADD', word)),
      )
      return converts || isFullText || adds || new Cursor(statement.tokens).sees('OPTIMIZE')
    },
  },
  {
    name: 'engine-without-transactions',
    level: 'danger',
    dialect: 'mysql',
    check: (statement) =>
      setting(createTable(statement)?.options ?? [], 'ENGINE', [
        'MYISAM',
        'ARIA',
        'MEMORY',
        'CSV',
        'ARCHIVE',
      ]) ||
      (alterTable(statement)?.actions ?? []).some((action) =>
        setting(action, 'ENGINE', ['MYISAM', 'ARIA', 'MEMORY']),
      ),
  },
  {
    name: 'three-byte-utf8',
    level: 'advice',
    dialect: 'mysql',
    check: ({ tokens }) =>
      setting(tokens, 'CHARSET', ['UTF8', 'UTF8MB3']) ||
      setting(tokens, 'SET', ['UTF8', 'UTF8MB3']) ||
      tokens.some((token) => isWord(token, 'UTF8MB3')),
  },
  {
    name: 'adding-volatile-default',
    level: 'danger',
    dialect: 'mysql',
    check: reportedBy((action) =>
      addedColumns(action, mysqlSyntax).some(({ definition }) => isExpression(definition)),
    ),
  },
]

/** Objects for which a repeated CREATE or DROP has no error code that recovery recognizes. */
const NEEDS_IF = [
  'TRIGGER',
  'PROCEDURE',
  'FUNCTION',
  'EVENT',
  'SEQUENCE',
  'ROLE',
  'USER',
  'SERVER',
  'PACKAGE',
]

function unrecoverable(statement: Statement): Unrecoverable | undefined {
  const { tokens } = statement
  const cursor = new Cursor(tokens)
  if (cursor.sees('RENAME')) return 'rename'
  const isSafe =
    hasWords(tokens, 'OR', 'REPLACE') ||
    hasWords(tokens, 'IF', 'NOT', 'EXISTS') ||
    hasWords(tokens, 'IF', 'EXISTS')
  if (cursor.sees('CREATE') && !isSafe && NEEDS_IF.includes(objectOf(statement))) return 'create'
  if (cursor.sees('DROP') && !isSafe && [...NEEDS_IF, 'VIEW'].includes(objectOf(statement))) return 'drop'
  const actions = alterTable(statement)?.actions ?? []
  const isMoved = actions.some(
    (action) => isWord(action[0], 'RENAME') || isWord(action[0], 'CHANGE') || dropsPartition(action),
  )
  if (isMoved) return 'move'
  const isConstrained = actions.some(
    (action) => addsConstraint(addedConstraint(action)?.kind) && !hasWords(action, 'IF', 'NOT', 'EXISTS'),
  )
  return isConstrained ? 'constraint' : undefined
}

const addsConstraint = (kind: string | undefined): boolean =>
  kind === 'FOREIGN' || kind === 'CHECK' || kind === 'PRIMARY'

const dropsPartition = (action: Statement['tokens']): boolean =>
  ['ADD', 'DROP', 'REORGANIZE', 'EXCHANGE'].some((verb) => new Cursor(action).sees(verb, 'PARTITION'))

function objectOf({ tokens }: Statement): string {
  const found = tokens.find(({ kind, value }) => kind === 'word' && [...NEEDS_IF, ...PLAIN].includes(value))
  return found?.value ?? ''
}

const PLAIN = ['TABLE', 'VIEW', 'INDEX']

/** Returns true for `SET @name = …`, which sets a session variable. Server settings need no `@`. */
const sets = (tokens: Statement['tokens']): boolean =>
  isWord(tokens[0], 'SET') && tokens.some((token) => isWord(token, '@'))

/** Returns true for `ALGORITHM=INSTANT`, or `ALGORITHM=INPLACE, LOCK=NONE`. */
export const forbidsCopies = ({ tokens }: Statement): boolean =>
  setting(tokens, 'ALGORITHM', ['INSTANT']) ||
  (setting(tokens, 'ALGORITHM', ['INPLACE', 'NOCOPY']) && setting(tokens, 'LOCK', ['NONE']))

/** Returns true if `NAME=VALUE` or `NAME VALUE` has one of `values`, or any value if `values` is omitted. */
export function setting(
  tokens: Statement['tokens'],
  name: string,
  values: readonly string[] | undefined,
): boolean {
  return tokens.some((token, at) => {
    if (!isWord(token, name)) return false
    const value = isWord(tokens[at + 1], '=') ? tokens[at + 2] : tokens[at + 1]
    return value !== undefined && (values === undefined || values.includes(value.value.toUpperCase()))
  })
}

/**
 * Returns true if a default is an expression. MySQL requires parentheses around one; MariaDB accepts `uuid()`
 * without.
 */
function isExpression(definition: readonly Token[]): boolean {
  const value = definition[indexOfWords(definition, 'DEFAULT') + 1]
  return hasWords(definition, 'DEFAULT') && (isWord(value, '(') || isWord(value, 'UUID'))
}
