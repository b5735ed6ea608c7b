import { hasWords, indexOfWords, isWord } from '../../sql/cursor.js'
import type { FileFacts, Rule } from './lint-rule.js'
import type { Token } from '../../sql/tokenize.js'
import { addedColumns, addedConstraint, type Column, typeOf } from '../../sql/statement-shape.js'
import { reportedBy } from './old-tables.js'

/** Statements that rewrite every row of a table under an exclusive lock. */
export const REWRITE_RULES: readonly Rule[] = [
  {
    name: 'adding-field-with-default',
    level: 'danger',
    dialect: 'postgres',
    check: reportedBy((action, { engine }) =>
      addedColumns(action, engine.syntax).some(({ definition }) => hasVolatileDefault(definition)),
    ),
  },
  {
    name: 'adding-stored-generated-column',
    level: 'danger',
    ofCopies: true,
    check: reportedBy((action, file) =>
      addedColumns(action, file.engine.syntax).some(
        (column) => isStored(column.definition) && !isSearchVector(column),
      )
        ? rewriting(file, ROWS_PER_SECOND)
        : undefined,
    ),
  },
  {
    // Generated files accept this finding in a comment. Files of earlier releases have no such comment and
    // must not change.
    name: 'adding-search-vector',
    level: 'advice',
    dialect: 'postgres',
    check: reportedBy((action, file) =>
      addedColumns(action, file.engine.syntax).some(
        (column) => isStored(column.definition) && isSearchVector(column),
      )
        ? rewriting(file, VECTORS_PER_SECOND)
        : undefined,
    ),
  },
  {
    name: 'adding-auto-increment-column',
    level: 'danger',
    ofCopies: true,
    check: reportedBy((action, { engine }) =>
      addedColumns(action, engine.syntax).some(
        (column) =>
          SERIALS.includes(typeOf(column).name) ||
          hasWords(column.definition, 'AS', 'IDENTITY') ||
          hasWords(column.definition, 'AUTO_INCREMENT'),
      ),
    ),
  },
  {
    name: 'adding-primary-key-constraint',
    level: 'danger',
    ofCopies: true,
    check: reportedBy((action, { engine }) => {
      const constraint = addedConstraint(action)
      const isKey =
        addedColumns(action, engine.syntax).some(({ definition }) =>
          hasWords(definition, 'PRIMARY', 'KEY'),
        ) ||
        (constraint?.kind === 'PRIMARY' && !hasWords(constraint.definition, 'USING', 'INDEX'))
      return isKey && { how: engine.primaryKey }
    }),
  },
  {
    name: 'changing-column-type',
    level: 'danger',
    ofCopies: true,
    check: reportedBy((action, { engine }) => engine.changesColumnType(action)),
  },
]

/** Returns true if a new column has a different value in each row, so that the table is rewritten. */
export const isComputedForEachRow = (column: Column): boolean =>
  hasVolatileDefault(column.definition) ||
  isStored(column.definition) ||
  SERIALS.includes(typeOf(column).name) ||
  hasWords(column.definition, 'AS', 'IDENTITY')

/**
 * Measured on two slow cores with strings of 160 characters. This is a lower bound for planning, not a
 * guarantee.
 */
const VECTORS_PER_SECOND = 65_000
const ROWS_PER_SECOND = 250_000

const rewriting = ({ statementTimeoutMs }: FileFacts, perSecond: number) => {
  const seconds = statementTimeoutMs / 1000
  return { seconds, rows: seconds * perSecond }
}

const isSearchVector = (column: Column): boolean =>
  column.name === 'search_vector' && typeOf(column).name === 'TSVECTOR'

const SERIALS = ['SERIAL', 'SERIAL2', 'SERIAL4', 'SERIAL8', 'SMALLSERIAL', 'BIGSERIAL']

const isStored = (definition: readonly Token[]): boolean =>
  (hasWords(definition, 'GENERATED', 'ALWAYS', 'AS') || hasWords(definition, 'AS')) &&
  (hasWords(definition, 'STORED') || hasWords(definition, 'PERSISTENT')) &&
  !hasWords(definition, 'AS', 'IDENTITY')

/** Functions that, without parentheses, have the same value for every row of one statement. */
const STABLE = ['NOW', 'TRANSACTION_TIMESTAMP', 'STATEMENT_TIMESTAMP', 'CURRENT_DATABASE', 'CURRENT_SCHEMA']
const TAKES_PRECISION = ['CURRENT_TIMESTAMP', 'CURRENT_TIME', 'LOCALTIME', 'LOCALTIMESTAMP', 'INTERVAL']
const NOT_CALLED = [
  'CAST',
  'ARRAY',
  'ROW',
  'AND',
  'OR',
  'NOT',
  'IN',
  'COALESCE',
  'NULLIF',
  'GREATEST',
  'LEAST',
]

function hasVolatileDefault(definition: readonly Token[]): boolean {
  const at = indexOfWords(definition, 'DEFAULT')
  if (at < 0) return false
  const expression = definition.slice(at + 1)
  const end = AFTER_DEFAULT.map((words) => indexOfWords(expression, ...words)).filter((found) => found > 0)
  return expression.slice(0, Math.min(...end, expression.length)).some(isVolatileCall)
}

const AFTER_DEFAULT = [
  ['NOT', 'NULL'],
  ...['CONSTRAINT', 'CHECK', 'UNIQUE', 'PRIMARY', 'REFERENCES', 'GENERATED', 'COLLATE'].map((word) => [word]),
]

function isVolatileCall(token: Token, at: number, tokens: readonly Token[]): boolean {
  if ((token.kind !== 'word' && token.kind !== 'quoted') || !isWord(tokens[at + 1], '(')) return false
  const isType = isWord(tokens[at - 1], ':') || isWord(tokens[at - 1], 'AS')
  if (isType || NOT_CALLED.includes(token.value) || TAKES_PRECISION.includes(token.value)) return false
  return !(STABLE.includes(token.value) && isWord(tokens[at + 2], ')'))
}
