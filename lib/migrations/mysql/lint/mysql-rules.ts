import { Cursor, hasWords, indexOfWords, isWord } from '../../sql/cursor.js'
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
import { actionsOnOldTables, toldBy } from '../../lint/rules/old-tables.js'

/** MySQL commits each DDL statement by itself, and copies tables where PostgreSQL only locks them. */
export const MYSQL_RULES: readonly Rule[] = [
  {
    name: 'torn-body',
    level: 'refuse',
    dialect: 'mysql',
    bothWays: true,
    check: ({ tokens }) =>
      isWord(tokens[0], 'END')
        ? 'starts with END: put the body of the routine or trigger between BEGIN and END'
        : undefined,
  },
  {
    name: 'one-ddl-per-file',
    level: 'danger',
    dialect: 'mysql',
    bothWays: true,
    check: (statement, { ddlBefore, direction }) =>
      isDdl(statement) && ddlBefore.length > 0 && direction === 'up'
        ? 'MySQL cannot undo the DDL in front of it when this one fails: one DDL statement for each file'
        : undefined,
  },
  {
    name: 'unrecoverable-statement',
    level: 'danger',
    dialect: 'mysql',
    bothWays: true,
    check: (statement, { statements }) => {
      const advice = unrecoverable(statement, statements.length === 1)
      return (
        advice && `run a second time after the host died in it, it fails and stops every later run: ${advice}`
      )
    },
  },
  {
    name: 'session-state',
    level: 'danger',
    dialect: 'mysql',
    bothWays: true,
    check: ({ tokens }, { statements }) =>
      statements.length > 1 && (sets(tokens) || isWord(tokens[0], 'PREPARE') || isWord(tokens[0], 'EXECUTE'))
        ? 'what it sets is forgotten when a run goes on after a failure: say it inside of the statement that needs it'
        : undefined,
  },
  {
    name: 'algorithm-copy',
    level: 'danger',
    dialect: 'mysql',
    check: ({ tokens }) =>
      setting(tokens, 'ALGORITHM', ['COPY'])
        ? 'copies the table and stops every write meanwhile: ALGORITHM=INPLACE or INSTANT'
        : undefined,
  },
  {
    name: 'locking-a-table',
    level: 'danger',
    dialect: 'mysql',
    check: ({ tokens }) =>
      setting(tokens, 'LOCK', ['SHARED', 'EXCLUSIVE'])
        ? 'stops every write to the table: LOCK=NONE, which fails instead of waiting when it cannot be had'
        : undefined,
  },
  {
    name: 'adding-foreign-key-constraint',
    level: 'danger',
    ofCopies: true,
    dialect: 'mysql',
    check: toldBy((action) =>
      addedConstraint(action)?.kind === 'FOREIGN'
        ? 'copies the table and stops every write meanwhile: declare the key in CREATE TABLE'
        : undefined,
    ),
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
        ? 'writes the whole table anew and stops every write meanwhile: plan it for a quiet hour'
        : undefined
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
      )
        ? 'rows of such a table are not part of any transaction, so that a failed file leaves them behind: ENGINE=InnoDB'
        : undefined,
  },
  {
    name: 'three-byte-utf8',
    level: 'advice',
    dialect: 'mysql',
    check: ({ tokens }) =>
      setting(tokens, 'CHARSET', ['UTF8', 'UTF8MB3']) ||
      setting(tokens, 'SET', ['UTF8', 'UTF8MB3']) ||
      tokens.some((token) => isWord(token, 'UTF8MB3'))
        ? 'cannot hold every character: utf8mb4'
        : undefined,
  },
  {
    name: 'adding-volatile-default',
    level: 'danger',
    dialect: 'mysql',
    check: toldBy((action) =>
      addedColumns(action, mysqlSyntax).some(({ definition }) => isExpression(definition))
        ? 'computes the default for every row, copying the table, and breaks statement-based replication: add the ' +
          'column without it, set the default for new rows, and fill the old ones in batches'
        : undefined,
    ),
  },
]

/** Objects for which recovery does not know the error of a repeated CREATE or DROP. */
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

function unrecoverable(statement: Statement, isAlone: boolean): string | undefined {
  const { tokens } = statement
  const cursor = new Cursor(tokens)
  if (cursor.sees('RENAME')) return 'make the new name beside the old one'
  const isSafe =
    hasWords(tokens, 'OR', 'REPLACE') ||
    hasWords(tokens, 'IF', 'NOT', 'EXISTS') ||
    hasWords(tokens, 'IF', 'EXISTS')
  if (cursor.sees('CREATE') && !isSafe && NEEDS_IF.includes(objectOf(statement)))
    return 'CREATE OR REPLACE, or IF NOT EXISTS'
  if (cursor.sees('DROP') && !isSafe && [...NEEDS_IF, 'VIEW'].includes(objectOf(statement)))
    return 'DROP … IF EXISTS'
  const actions = alterTable(statement)?.actions ?? []
  const watched = 'into a file of its own that you watch while it runs'
  const isMoved = actions.some(
    (action) => isWord(action[0], 'RENAME') || isWord(action[0], 'CHANGE') || dropsPartition(action),
  )
  if (isMoved) return isAlone ? WATCH_ALONE : `put it ${watched}`
  const isConstrained = actions.some(
    (action) => addsConstraint(addedConstraint(action)?.kind) && !hasWords(action, 'IF', 'NOT', 'EXISTS'),
  )
  return isConstrained ? `put it into CREATE TABLE, or ${isAlone ? WATCH_ALONE : watched}` : undefined
}

const WATCH_ALONE =
  'watch it while it runs; where the host died and it is done, migrate resolve --applied records that'

const addsConstraint = (kind: string | undefined): boolean =>
  kind === 'FOREIGN' || kind === 'CHECK' || kind === 'PRIMARY'

const dropsPartition = (action: Statement['tokens']): boolean =>
  ['ADD', 'DROP', 'REORGANIZE', 'EXCHANGE'].some((verb) => new Cursor(action).sees(verb, 'PARTITION'))

function objectOf({ tokens }: Statement): string {
  const found = tokens.find(({ kind, value }) => kind === 'word' && [...NEEDS_IF, ...PLAIN].includes(value))
  return found?.value ?? ''
}

const PLAIN = ['TABLE', 'VIEW', 'INDEX']

/** `SET @name = …` sets a session variable. Server settings need no `@`. */
const sets = (tokens: Statement['tokens']): boolean =>
  isWord(tokens[0], 'SET') && tokens.some((token) => isWord(token, '@'))

/** `ALGORITHM=INSTANT`, or `ALGORITHM=INPLACE, LOCK=NONE`. */
export const forbidsCopies = ({ tokens }: Statement): boolean =>
  setting(tokens, 'ALGORITHM', ['INSTANT']) ||
  (setting(tokens, 'ALGORITHM', ['INPLACE', 'NOCOPY']) && setting(tokens, 'LOCK', ['NONE']))

/** Whether `NAME=VALUE` or `NAME VALUE` has one of `values`, or any value when none are given. */
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

/** MySQL requires parentheses around a default expression; MariaDB accepts `uuid()` without. */
function isExpression(definition: readonly Token[]): boolean {
  const value = definition[indexOfWords(definition, 'DEFAULT') + 1]
  return hasWords(definition, 'DEFAULT') && (isWord(value, '(') || isWord(value, 'UUID'))
}
