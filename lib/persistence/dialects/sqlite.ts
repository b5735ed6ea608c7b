import { controlStatements } from './control-in-text.js'
import { columnText } from './column-text.js'
import { isIn32Bits } from '../../resource/kinds/integers.js'
import type { Dialect } from './dialect.js'
import { sqliteGathered } from './sqlite/gathered.js'
import { sqliteJson } from './sqlite/json.js'
import { sqliteKinds } from './sqlite/kinds.js'
import { sqliteCoalescing } from './sqlite/coalescing.js'
import { inexactColumns } from './sqlite/inexact-columns.js'
import { sqliteTags } from './sqlite/tags.js'
import type { ColumnDefinition, Query, TableDefinition } from './catalog/table-definition.js'
import { sizedType } from './typeorm/sized-type.js'
import { quoted, textLiteral } from './values/quoted.js'

/**
 * Quotes a name with backticks. SQLite reads an unknown name in double quotes as a string:
 * https://www.sqlite.org/quirks.html#dblquote
 */
const quote = (name: string): string => quoted(name, '`')

/**
 * The errors that end a transaction (https://www.sqlite.org/lang_transaction.html): disk full, I/O error, out
 * of memory, busy and interrupted.
 */
const ENDS_TRANSACTION = /^SQLITE_(?:FULL|IOERR|NOMEM|BUSY|INTERRUPT)/

/** Makes the connection reject all writes. The connection's lease resets it. */
export const QUERY_ONLY = 'PRAGMA query_only = ON'

export const sqlite: Dialect = {
  name: 'sqlite',
  label: 'SQLite',
  can: {
    arrays: false,
    returning: true,
    distribution: false,
    setWrites: false,
    writeWith: true,
    lateral: false,
    rowComparison: true,
    partialIndexes: true,
    limitedDelete: false,
    indexIfMissing: true,
    transactionalDdl: true,
    failureBlocksTransaction: false,
    nullsInOrder: true,
    sortsInPart: true,
    fullText: false,
    infinities: true,
  },
  text: {
    quote,
    literal: textLiteral,
    concat: (parts) => `(${parts.join(' || ')})`,
    contains: (text, needle) => `instr(${text()}, ${needle()}) > 0`,
    containsTerm: (text) => `instr(LOWER(${text}), LOWER(?)) > 0`,
    // Semicolons are not tokens here: only one statement runs at a time, and a trigger's body contains
    // several.
    tokens:
      /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[^]*?(?:\*\/|$)|[A-Za-z_]\w*/g,
    collation: 'COLLATE BINARY',
    exactly: (column, collation) =>
      collation.toUpperCase() === 'BINARY' ? column : `${column} COLLATE BINARY`,
  },
  values: {
    kinds: sqliteKinds,
    countPlaceholder: () => '?',
    maxValues: 32766,
    gathered: sqliteGathered,
    byteLength: (column) => `octet_length(${column})`,
    // The driver creates each value of each row on the main thread. One string takes half the time.
    gathersPage: () => true,
    handOver: undefined,
    orderNullable: (column, direction) =>
      direction === 'asc' ? `${column} NULLS LAST` : `${column} DESC NULLS FIRST`,
    later: (column, value) => `MAX(COALESCE(${column}, ''), ${value})`,
    json: sqliteJson,
    tags: sqliteTags,
    coalescing: sqliteCoalescing,
  },
  transactions: {
    control: controlStatements(),
    // Take the write lock at the beginning. Later it could fail because another process has written
    // meanwhile.
    begin: ({ readOnly }) => (readOnly === true ? [QUERY_ONLY, 'BEGIN'] : ['BEGIN IMMEDIATE']),
    /** SQLite has one writer at a time, and `begin` waits for it. */
    rowLock: () => '',
    isSnapshotFixed: undefined,
    lockBeginsSnapshot: undefined,
    // This reads every table with foreign keys, so it only runs if the database has a deferred constraint.
    deferredRules: {
      count: `SELECT CASE WHEN EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND sql LIKE '%INITIALLY%DEFERRED%') THEN (SELECT COUNT(*) FROM pragma_foreign_key_check) ELSE 0 END`,
    },
    endsTransaction: ({ code }) => typeof code === 'string' && ENDS_TRANSACTION.test(code),
    /** A trigger or constraint with ROLLBACK reports the same error as any other constraint. */
    mayRollBack: ({ code }) => typeof code === 'string' && code.startsWith('SQLITE_CONSTRAINT'),
  },
  ddl: {
    indexMethods: { of: () => undefined, isFirst: false },
    now: "(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
    typeormColumns: {
      computed: undefined,
      generated: '',
      types: new Set(),
      typed: sizedType,
      attributes: ({ collation }) => (collation === undefined ? '' : ` COLLATE ${collation}`),
    },
    // Without AUTOINCREMENT, SQLite reuses the numbers of deleted rows.
    identity: {
      column: ' PRIMARY KEY AUTOINCREMENT',
      isPrimaryKey: true,
      // SQLite counts in 64 bits for every column type.
      endsWithKind: (kind) => !isIn32Bits(kind),
      in64Bits: undefined,
      alone: 'DEFAULT VALUES',
      added: ({ name }) => `make ${quote(name)} anew`,
      last: undefined,
    },
    tableOptions: '',
    tableCollation: '',
    updateTable,
    refusedKeys: () => [],
    migration: undefined,
  },
  catalog: {
    suppressingTriggers: `SELECT 1 AS found FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%RAISE%IGNORE%' AND lower(tbl_name) = lower(trim(?, '"\`')) LIMIT 1`,
    namespace: undefined,
    foreignKeys: undefined,
    columnsWithoutForeignKey:
      'SELECT name FROM pragma_table_info(?) WHERE name NOT IN (SELECT "from" FROM pragma_foreign_key_list(?))',
    timesWithoutZone: undefined,
    timesWithoutMillis: undefined,
    roundedFloats: undefined,
    inexactColumns,
    live: undefined,
    identify: () => Promise.resolve(sqlite),
  },
  stores: {
    now: `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`,
    later: `CAST((julianday('now') - 2440587.5) * 86400000 + ? AS INTEGER)`,
    msUntil: (column) => `${column} - CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`,
    bound: { text: '?', bytes: '?', integer: '?' },
    bytesIn: (column) => column,
    insertNew: (row) => `INSERT ${row} ON CONFLICT DO NOTHING`,
    notify: undefined,
    updateRows: (table, { column: key, whileNull }, columns) =>
      `UPDATE ${table} SET ${columns.map((column) => `${column} = k.${column}`).join(', ')} FROM (SELECT ` +
      `${[key, ...columns].map((column) => `json_extract(value, '$.${column}') AS ${column}`).join(', ')} FROM json_each(?)) k ` +
      `WHERE ${table}.${key} = k.${key} AND ${table}.${whileNull} IS NULL`,
    numbered: (text) => text,
  },
}

async function updateTable(query: Query, table: TableDefinition, indexes: readonly string[]): Promise<void> {
  await addMissingColumns(query, table)
  await dropChangedIndexes(query, table, indexes)
}

/**
 * Drops indexes whose stored CREATE statement differs from the declared one. SQLite stores the statement
 * without IF NOT EXISTS.
 */
async function dropChangedIndexes(
  query: Query,
  table: TableDefinition,
  indexes: readonly string[],
): Promise<void> {
  const declared = new Set(indexes.map((text) => text.replace('IF NOT EXISTS ', '')))
  const names = new Set(table.indexes.map(({ name }) => name))
  const rows = await query(`SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ?`, [
    table.name,
  ])
  for (const [name, text] of rows)
    if (names.has(String(name)) && !declared.has(String(text)))
      await query(`DROP INDEX ${quote(String(name))}`, [])
}

async function addMissingColumns(query: Query, table: TableDefinition): Promise<void> {
  const rows = await query('SELECT name FROM pragma_table_xinfo(?)', [table.name])
  const present = new Set(rows.map(([name]) => name))
  for (const column of table.columns.filter(({ name }) => !present.has(name))) {
    const { renamedFrom } = column
    const change =
      renamedFrom !== undefined && present.has(renamedFrom)
        ? `RENAME COLUMN ${quote(renamedFrom)} TO ${quote(column.name)}`
        : `ADD COLUMN ${columnText(filled(column), sqlite)}`
    await query(`ALTER TABLE ${quote(table.name)} ${change}`, [])
  }
}

/**
 * Adds a default to a required column. SQLite cannot add a NOT NULL column to a table with rows without one.
 */
const filled = (column: ColumnDefinition): ColumnDefinition =>
  column.nullable
    ? column
    : { ...column, fallback: column.fallback ?? column.initial ?? zeroText(column.type) }

const zeroText = (type: string): string => (type === 'TEXT' ? "''" : type === 'BLOB' ? "x''" : '0')
