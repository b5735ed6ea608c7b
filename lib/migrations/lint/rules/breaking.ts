import { Cursor, hasWords, isWord } from '../../sql/cursor.js'
import type { Rule } from './lint-rule.js'
import type { Statement } from '../../sql/split-statements.js'
import type { Token } from '../../sql/tokenize.js'
import {
  addedColumns,
  alteredColumn,
  alterTable,
  createIndex,
  dropped,
  droppedColumn,
} from '../../sql/statement-shape.js'
import { actionsOnOldTables, reportedBy } from './old-tables.js'

/** Statements that break running code, or that lose data. */
export const BREAKING_RULES: readonly Rule[] = [
  {
    name: 'ban-drop-column',
    level: 'danger',
    check: (statement, file) => {
      const actions = actionsOnOldTables(statement, file)
      const computed = actions
        .flatMap((action) => addedColumns(action, file.engine.syntax))
        .filter(({ definition }) => hasWords(definition, 'GENERATED'))
        .map(({ name }) => name)
      const gone = actions.flatMap((action) => droppedColumn(action, file.engine.syntax) ?? [])
      return gone.some((name) => !computed.includes(name))
    },
  },
  {
    name: 'ban-drop-table',
    level: 'danger',
    check: (statement, { created }) => {
      const drop = dropped(statement)
      return drop?.what === 'TABLE' && drop.names.some((name) => !created.has(name))
    },
  },
  {
    name: 'ban-truncate-cascade',
    level: 'danger',
    bothWays: true,
    check: ({ tokens }) => isWord(tokens[0], 'TRUNCATE') && hasWords(tokens, 'CASCADE'),
  },
  {
    name: 'ban-drop-cascade',
    level: 'danger',
    dialect: 'postgres',
    bothWays: true,
    check: (statement) => dropsOthers(statement.tokens) || alterTable(statement)?.actions.some(dropsOthers),
  },
  {
    name: 'renaming-column',
    level: 'danger',
    check: reportedBy((action) => renamesColumn(action)),
  },
  {
    name: 'renaming-table',
    level: 'danger',
    check: (statement, file) => {
      const cursor = new Cursor(statement.tokens)
      if (cursor.take('RENAME', 'TABLE') && !file.created.has(cursor.name() ?? '')) return true
      return reportedBy((action) => renamesTable(action))(statement, file)
    },
  },
  {
    name: 'renaming-schema',
    level: 'danger',
    dialect: 'postgres',
    check: ({ tokens }) => new Cursor(tokens).sees('ALTER', 'SCHEMA') && hasWords(tokens, 'RENAME', 'TO'),
  },
  {
    name: 'renaming-enum-value',
    level: 'danger',
    dialect: 'postgres',
    check: ({ tokens }) => new Cursor(tokens).sees('ALTER', 'TYPE') && hasWords(tokens, 'RENAME', 'VALUE'),
  },
  {
    name: 'ban-drop-not-null',
    level: 'danger',
    dialect: 'postgres',
    check: reportedBy((action) => hasWords(alteredColumn(action)?.change ?? [], 'DROP', 'NOT', 'NULL')),
  },
  {
    name: 'adding-required-field',
    level: 'danger',
    check: reportedBy((action, { engine }) =>
      addedColumns(action, engine.syntax).some(({ definition }) => isRequired(definition)),
    ),
  },
  {
    name: 'backfill-with-ddl',
    level: 'danger',
    dialect: 'postgres',
    check: ({ tokens }, { ddlBefore }) =>
      (isWord(tokens[0], 'UPDATE') || isWord(tokens[0], 'DELETE')) && ddlBefore.some(locksATable),
  },
]

/** Returns true for `DROP … CASCADE`, as a statement or as an action of ALTER TABLE. */
const dropsOthers = (tokens: readonly Token[]): boolean =>
  isWord(tokens[0], 'DROP') && isWord(tokens.at(-1), 'CASCADE')

/**
 * Returns true for `RENAME [COLUMN] a TO b` and `CHANGE [COLUMN] a b …`. RENAME TO, INDEX and CONSTRAINT do
 * not rename columns.
 */
function renamesColumn(action: readonly Token[]): boolean {
  const cursor = new Cursor(action)
  if (cursor.take('CHANGE')) {
    cursor.take('COLUMN')
    const old = cursor.name()
    return cursor.name() !== old
  }
  if (!cursor.take('RENAME')) return false
  if (cursor.take('COLUMN')) return true
  const isOther = ['TO', 'AS', 'INDEX', 'KEY', 'CONSTRAINT'].some((word) => cursor.sees(word))
  return !isOther && hasWords(cursor.rest.slice(1), 'TO')
}

function renamesTable(action: readonly Token[]): boolean {
  const cursor = new Cursor(action)
  if (!cursor.take('RENAME')) return false
  return cursor.sees('TO') || cursor.sees('AS') || cursor.rest.length === 1
}

const isRequired = (definition: readonly Token[]): boolean =>
  hasWords(definition, 'NOT', 'NULL') &&
  !['DEFAULT', 'GENERATED', 'AS', 'AUTO_INCREMENT'].some((word) => hasWords(definition, word))

const locksATable = (statement: Statement): boolean =>
  alterTable(statement) !== undefined || createIndex(statement) !== undefined
