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
import { actionsOnOldTables, toldBy } from './old-tables.js'

const USES_COLUMN = 'code that still reads or writes the column fails'
const USES_TABLE = 'code that still uses the table fails'
const USES_OLD_NAME = 'code that still uses the old name fails at once'
const WRITES_OLD_VALUE = 'code that still writes the old value fails at once'
const EXPECTS_NO_NULL = 'code that still runs does not expect NULL'
const LEAVES_EMPTY = 'fails where the table has rows, and code that still runs does not fill it'
const RENAMED_COLUMN = `${USES_OLD_NAME}: add a column, write both, fill it, switch over, drop the old one`
const RENAMED_TABLE = `${USES_OLD_NAME}: make a new table and write both, or leave a view under the old name`

/** Statements that break running code, or that lose data. */
export const BREAKING_RULES: readonly Rule[] = [
  {
    name: 'ban-drop-column',
    level: 'danger',
    breaks: USES_COLUMN,
    check: (statement, file) => {
      const actions = actionsOnOldTables(statement, file)
      const computed = actions
        .flatMap((action) => addedColumns(action, file.engine.syntax))
        .filter(({ definition }) => hasWords(definition, 'GENERATED'))
        .map(({ name }) => name)
      const gone = actions.flatMap((action) => droppedColumn(action, file.engine.syntax) ?? [])
      return gone.some((name) => !computed.includes(name))
        ? `${USES_COLUMN}, and its data is gone: drop it one release after the code stopped using it`
        : undefined
    },
  },
  {
    name: 'ban-drop-table',
    level: 'danger',
    breaks: USES_TABLE,
    check: (statement, { created }) => {
      const drop = dropped(statement)
      return drop?.what === 'TABLE' && drop.names.some((name) => !created.has(name))
        ? `${USES_TABLE}, and its data is gone: drop it one release after the code stopped using it`
        : undefined
    },
  },
  {
    name: 'ban-truncate-cascade',
    level: 'danger',
    bothWays: true,
    check: ({ tokens }) =>
      isWord(tokens[0], 'TRUNCATE') && hasWords(tokens, 'CASCADE')
        ? 'empties every table that refers to this one, whichever they are by then: name the tables'
        : undefined,
  },
  {
    name: 'renaming-column',
    level: 'danger',
    breaks: USES_OLD_NAME,
    check: toldBy((action) => (renamesColumn(action) ? RENAMED_COLUMN : undefined)),
  },
  {
    name: 'renaming-table',
    level: 'danger',
    breaks: USES_OLD_NAME,
    check: (statement, file) => {
      const cursor = new Cursor(statement.tokens)
      if (cursor.take('RENAME', 'TABLE') && !file.created.has(cursor.name() ?? '')) return RENAMED_TABLE
      return toldBy((action) => (renamesTable(action) ? RENAMED_TABLE : undefined))(statement, file)
    },
  },
  {
    name: 'renaming-schema',
    level: 'danger',
    breaks: USES_OLD_NAME,
    dialect: 'postgres',
    check: ({ tokens }) =>
      new Cursor(tokens).sees('ALTER', 'SCHEMA') && hasWords(tokens, 'RENAME', 'TO')
        ? `${USES_OLD_NAME}: make a new schema and move over in steps`
        : undefined,
  },
  {
    name: 'renaming-enum-value',
    level: 'danger',
    breaks: WRITES_OLD_VALUE,
    dialect: 'postgres',
    check: ({ tokens }) =>
      new Cursor(tokens).sees('ALTER', 'TYPE') && hasWords(tokens, 'RENAME', 'VALUE')
        ? `${WRITES_OLD_VALUE}: add a value, move the rows over, then stop using the old one`
        : undefined,
  },
  {
    name: 'ban-drop-not-null',
    level: 'danger',
    breaks: EXPECTS_NO_NULL,
    dialect: 'postgres',
    check: toldBy((action) =>
      hasWords(alteredColumn(action)?.change ?? [], 'DROP', 'NOT', 'NULL')
        ? `${EXPECTS_NO_NULL}: let every reader learn it first`
        : undefined,
    ),
  },
  {
    name: 'adding-required-field',
    level: 'danger',
    breaks: LEAVES_EMPTY,
    check: toldBy((action, { engine }) =>
      addedColumns(action, engine.syntax).some(({ definition }) => isRequired(definition))
        ? `${LEAVES_EMPTY}: give it a DEFAULT, or let it be NULL at first`
        : undefined,
    ),
  },
  {
    name: 'backfill-with-ddl',
    level: 'danger',
    dialect: 'postgres',
    check: ({ tokens }, { ddlBefore }) =>
      (isWord(tokens[0], 'UPDATE') || isWord(tokens[0], 'DELETE')) && ddlBefore.some(locksATable)
        ? 'changes rows while the file holds the lock of its ALTER TABLE: put it into a file of its own, in batches'
        : undefined,
  },
]

/**
 * `RENAME [COLUMN] a TO b` or `CHANGE [COLUMN] a b …`; RENAME TO, INDEX and CONSTRAINT do not rename a
 * column.
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
