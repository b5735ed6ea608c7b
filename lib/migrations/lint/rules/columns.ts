import { Cursor, hasWords } from '../../sql/cursor.js'
import type { Dialect } from '../../files/dialect-name.js'
import type { LintRule } from '../../messages/lint-messages.js'
import type { Rule } from './lint-rule.js'
import type { Statement } from '../../sql/split-statements.js'
import {
  addedColumns,
  alteredColumn,
  alterTable,
  type Column,
  createTable,
  typeOf,
} from '../../sql/statement-shape.js'

/** Types and names that work but cause problems later. */
export const COLUMN_RULES: readonly Rule[] = [
  typed(
    'ban-char-field',
    'postgres',
    ['CHAR', 'CHARACTER', 'BPCHAR', 'NCHAR'],
    ({ definition }) => !hasWords(definition, 'VARYING'),
  ),
  typed('prefer-bigint-over-int', 'postgres', ['INT', 'INTEGER', 'INT4', 'SERIAL', 'SERIAL4']),
  typed(
    'prefer-identity',
    'postgres',
    ['SERIAL', 'SERIAL2', 'SERIAL4', 'SERIAL8', 'SMALLSERIAL', 'BIGSERIAL'],
    () => true,
    true,
  ),
  typed(
    'prefer-timestamptz',
    'postgres',
    ['TIMESTAMP'],
    ({ definition }) => !hasWords(definition, 'WITH', 'TIME', 'ZONE'),
  ),
  typed('adding-json-column', 'postgres', ['JSON']),
  {
    name: 'identifier-too-long',
    level: 'danger',
    check: ({ tokens }, { engine }) =>
      tokens.some(({ kind, value }) => (kind === 'word' || kind === 'quoted') && engine.isNameTooLong(value))
        ? { longest: engine.longestName }
        : undefined,
  },
  {
    name: 'require-enum-value-ordering',
    level: 'advice',
    dialect: 'postgres',
    check: ({ tokens }) =>
      new Cursor(tokens).sees('ALTER', 'TYPE') &&
      hasWords(tokens, 'ADD', 'VALUE') &&
      !hasWords(tokens, 'BEFORE') &&
      !hasWords(tokens, 'AFTER'),
  },
  {
    name: 'ban-domain-constraint',
    level: 'danger',
    dialect: 'postgres',
    check: ({ tokens }) => {
      const cursor = new Cursor(tokens)
      const makes = cursor.sees('CREATE', 'DOMAIN') && hasWords(tokens, 'CHECK')
      const adds = cursor.sees('ALTER', 'DOMAIN') && hasWords(tokens, 'ADD')
      return makes || adds
    },
  },
]

function typed(
  name: LintRule,
  dialect: Dialect,
  types: readonly string[],
  holds: (column: Column) => boolean = () => true,
  evenQuoted = false,
): Rule {
  return {
    name,
    dialect,
    level: 'advice',
    check: (statement) => {
      const column = columnsOf(statement).find((one) => {
        const type = typeOf(one)
        return types.includes(type.name) && (evenQuoted || !type.isQuoted) && holds(one)
      })
      return column && { column: column.name }
    },
  }
}

/** Returns the columns whose type the statement declares. */
function columnsOf(statement: Statement): readonly Column[] {
  const created = createTable(statement)?.columns ?? []
  const altered = (alterTable(statement)?.actions ?? []).flatMap((action) => [
    ...addedColumns(action, statement.syntax),
    ...retyped(alteredColumn(action)),
  ])
  return [...created, ...altered]
}

function retyped(altered: ReturnType<typeof alteredColumn>): readonly Column[] {
  if (altered === undefined) return []
  const cursor = new Cursor(altered.change)
  cursor.take('SET', 'DATA')
  return cursor.take('TYPE') ? [{ name: altered.name, definition: cursor.rest }] : []
}
