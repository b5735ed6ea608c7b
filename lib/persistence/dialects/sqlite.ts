import { controlStatements } from './transaction-control.js'
import type { FieldKind } from '../../resource/fields/field.js'
import { columnText } from './column-text.js'
import type { Dialect } from './dialect.js'
import { sqliteGathered } from './sqlite/gathered.js'
import { sqliteJson } from './sqlite/json.js'
import { sqliteMerging } from './sqlite/merging.js'
import { inexactColumns } from './sqlite/inexact-columns.js'
import { sqliteTags } from './sqlite/tags.js'
import type { ColumnDefinition, Query, TableDefinition } from './catalog/table-definition.js'
import { isoMillis, rounded } from './values/bound-value.js'
import { bufferOf } from './values/buffer-of.js'
import { quoted } from './values/quoted.js'

/** Not in double quotes, in which a name that no column has is a text: https://www.sqlite.org/quirks.html#dblquote */
const quote = (name: string): string => quoted(name, '`')

const TYPES: Readonly<Record<FieldKind, string>> = {
  string: 'TEXT',
  enum: 'TEXT',
  bytes: 'BLOB',
  bool: 'INTEGER',
  int32: 'INTEGER',
  uint32: 'INTEGER',
  int64: 'INTEGER',
  uint64: 'INTEGER',
  float: 'REAL',
  double: 'REAL',
  timestamp: 'TEXT',
  duration: 'INTEGER',
  json: 'TEXT',
  tags: 'TEXT',
}

/** https://www.sqlite.org/lang_transaction.html: full, I/O error, out of memory, busy and interrupted. */
const ENDS_TRANSACTION = /^SQLITE_(?:FULL|IOERR|NOMEM|BUSY|INTERRUPT)/

const isWide = (kind: FieldKind): boolean => kind === 'int64' || kind === 'uint64' || kind === 'duration'

/** From here on the connection refuses writes of every kind. The lease that it was sent to takes it back. */
export const QUERY_ONLY = 'PRAGMA query_only = ON'

export const sqlite: Dialect = {
  name: 'sqlite',
  label: 'SQLite',
  can: {
    returning: true,
    setWrites: false,
    writeWith: true,
    lateral: false,
    rowComparison: true,
    partialIndexes: true,
    limitedDelete: false,
    indexIfMissing: true,
    transactionalDdl: true,
    failureBlocksTransaction: false,
    fullText: false,
    leaseAlone: true,
    infinities: true,
  },

  quote,
  literal: (text) => `'${text.replaceAll("'", "''")}'`,
  concat: (parts) => `(${parts.join(' || ')})`,

  /**
   * `sqlite3` stores a bound bigint as NULL, so that 64-bit integers are bound as text. NUMERIC keeps what INTEGER
   * would clamp to 2^63-1. A double inside of JSON is read from its text, which may lose the last bit. The value it is
   * compared with is read in the same way.
   */
  placeholder: ({ kind, inside }) => {
    if (kind === 'double' && inside !== undefined) return 'CAST(? AS REAL)'
    if (kind === 'int64' || kind === 'duration') return 'CAST(? AS INTEGER)'
    return kind === 'uint64' ? 'CAST(? AS NUMERIC)' : '?'
  },
  countPlaceholder: () => '?',
  value: ({ kind, inside }, value) => {
    if (typeof value === 'number')
      return kind === 'double' && inside !== undefined ? String(value) : rounded(kind, value)
    if (typeof value === 'boolean') return Number(value)
    if (typeof value === 'bigint') return kind === 'timestamp' ? isoMillis(value) : value.toString()
    if (typeof value !== 'object') return value
    return value instanceof Date ? value.toISOString() : bufferOf(value)
  },
  maxValues: 32766,
  largestUint64: 2n ** 63n - 1n,

  columnType: (kind) => TYPES[kind],
  arrayType: undefined,
  selected: (kind, column, alias) => (isWide(kind) ? `CAST(${column} AS TEXT) AS ${alias}` : column),
  gathered: sqliteGathered,
  // The driver makes each value of each row in the thread that serves, which costs twice as much as one text.
  gathersPage: () => true,
  handOver: undefined,
  decoders: {
    bool: (value) => Number(value) === 1,
    bytes: (value) => new Uint8Array(value as Buffer),
  },
  inlineDecoders: { bool: (value) => `+${value} === 1`, double: (value) => `+${value}` },
  /** It compares the texts. */
  exactTime: (stored, value) => {
    if (stored === null || stored === undefined) return value
    return value instanceof Date && value.toJSON() === stored ? value : stored
  },
  holdsNonFinite: (value) => !Number.isNaN(value),
  holdsTime: () => true,

  /** Of no bytes at all, `substr` returns NULL. */
  beginning: (column, length) => `COALESCE(substr(${column}, 1, ${length}), ${column})`,
  orderNullable: (column, direction) =>
    direction === 'asc' ? `${column} NULLS LAST` : `${column} DESC NULLS FIRST`,
  contains: (text, needle) => `instr(${text()}, ${needle()}) > 0`,
  json: sqliteJson,
  tags: sqliteTags,
  containsTerm: (text) => `instr(LOWER(${text}), LOWER(?)) > 0`,

  // One statement at a time is run, and a trigger holds several.
  tokens:
    /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[^]*?(?:\*\/|$)|[A-Za-z_]\w*/g,
  control: controlStatements(),
  // The write lock is taken at once: taken later it can fail on a write of another process in between.
  begin: ({ readOnly }) => (readOnly === true ? [QUERY_ONLY, 'BEGIN'] : ['BEGIN IMMEDIATE']),
  /** SQLite has one writer at a time, and `begin` waits for it. */
  rowLock: () => '',
  isSnapshotFixed: undefined,
  lockBeginsSnapshot: undefined,
  merging: sqliteMerging,
  keepsExactly: () => false,
  endsTransaction: ({ code }) => typeof code === 'string' && ENDS_TRANSACTION.test(code),
  /** A trigger or a constraint with ROLLBACK reports the same error as any other constraint. */
  mayRollBack: ({ code }) => typeof code === 'string' && code.startsWith('SQLITE_CONSTRAINT'),

  collation: 'COLLATE BINARY',
  tableOptions: '',
  tableCollation: '',
  namespace: undefined,
  foreignKeys: undefined,
  columnsWithoutForeignKey:
    'SELECT name FROM pragma_table_info(?) WHERE name NOT IN (SELECT "from" FROM pragma_foreign_key_list(?))',
  updateTable,
  refusedKeys: () => [],
  inexactColumns,
  catalog: undefined,
  identify: () => Promise.resolve(sqlite),
  migration: undefined,

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

/** SQLite keeps the statement that made an index, but for IF NOT EXISTS. */
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
  const rows = await query('SELECT name FROM pragma_table_info(?)', [table.name])
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

/** A table with rows can only be given a NOT NULL column together with a value for them. */
const filled = (column: ColumnDefinition): ColumnDefinition =>
  column.nullable
    ? column
    : { ...column, fallback: column.fallback ?? column.initial ?? zeroText(column.type) }

const zeroText = (type: string): string => (type === 'TEXT' ? "''" : type === 'BLOB' ? "x''" : '0')
