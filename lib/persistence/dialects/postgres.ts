import { controlStatements } from './transaction-control.js'
import type { FieldKind } from '../../resource/fields/field.js'
import type { Dialect } from './dialect.js'
import { postgresCatalog } from './postgres/catalog.js'
import { postgresGathered } from './postgres/gathered.js'
import { keepsExactly } from './postgres/exact-types.js'
import { postgresJson } from './postgres/json.js'
import { postgresHandOver } from './postgres/hand-over.js'
import { inexactColumns } from './postgres/inexact-columns.js'
import { postgresMigration } from './postgres/migration.js'
import { postgresMerging } from './postgres/merging.js'
import { isPostgresTime } from './postgres/is-postgres-time.js'
import { exactTimeOf, timeOf } from './postgres/time-numbers.js'
import { quoteTable } from './quote-table.js'
import { isoMicros, rounded } from './values/bound-value.js'
import { bufferOf } from './values/buffer-of.js'
import { quoted } from './values/quoted.js'
import { LOCK_WAITS } from './values/lock-waits.js'

const quote = (name: string): string => quoted(name, '"')

const TYPES: Readonly<Record<Exclude<FieldKind, 'string' | 'enum'>, string>> = {
  bytes: 'bytea',
  bool: 'boolean',
  int32: 'integer',
  uint32: 'bigint',
  int64: 'bigint',
  uint64: 'numeric(20)',
  float: 'real',
  double: 'double precision',
  timestamp: 'timestamptz',
  duration: 'bigint',
  json: 'jsonb',
  tags: 'jsonb',
}

const typeOf = (kind: FieldKind): string => (kind === 'string' || kind === 'enum' ? 'text' : TYPES[kind])

/** ORDER BY resolves a name in the select list before a column of the table. No column has this name. */
const HEX = '"(hex)"'

const eight = new DataView(new ArrayBuffer(8))

/** A column of single precision was widened, which is exact. A Buffer for each would cost four times as much. */
function fromHex(text: unknown): number {
  eight.setInt32(0, bitsOf(text as string, 0))
  eight.setInt32(4, bitsOf(text as string, 8))
  return eight.getFloat64(0)
}

/** Of eight hexadecimal digits. */
function bitsOf(text: string, from: number): number {
  let bits = 0
  for (let at = from; at < from + 8; at++) {
    const code = text.charCodeAt(at)
    bits = (bits << 4) | (code < 58 ? code - 48 : code - 87)
  }
  return bits
}

const byCodePoint = (text: string): string => `${text} COLLATE "C"`

export const postgres: Dialect = {
  name: 'postgres',
  label: 'PostgreSQL',
  can: {
    returning: true,
    setWrites: true,
    writeWith: true,
    lateral: true,
    rowComparison: true,
    partialIndexes: true,
    limitedDelete: false,
    indexIfMissing: true,
    transactionalDdl: true,
    failureBlocksTransaction: true,
    fullText: true,
    leaseAlone: false,
    infinities: false,
  },

  quote,
  literal: (text) => `'${text.replaceAll("'", "''")}'`,
  concat: (parts) => `(${parts.join(' || ')})`,

  placeholder: (_column, index) => `$${index}`,
  countPlaceholder: (index) => `$${index}`,
  value: ({ kind }, value) => {
    if (typeof value === 'number') {
      const number = rounded(kind, value)
      return Number.isFinite(number) ? number : String(number)
    }
    if (typeof value === 'bigint') return kind === 'timestamp' ? isoMicros(value) : value.toString()
    if (typeof value !== 'object') return value
    return value instanceof Date ? value.toISOString() : bufferOf(value)
  },
  /** node `pg` sends the count in 16 bits and wraps around silently. */
  maxValues: 65535,
  largestUint64: 2n ** 64n - 1n,

  columnType: (kind, length) => (length === undefined ? typeOf(kind) : `varchar(${length})`),
  arrayType: (kind) => `${typeOf(kind)}[]`,
  /**
   * The text of bytes and floating-point numbers depends on settings of the session (`bytea_output`,
   * `extra_float_digits`). Behind a transaction pooler any session may serve a statement. Hexadecimal text does not
   * depend on them.
   */
  selected: (kind, column) => {
    if (kind === 'bytes') return `encode(${column}, 'hex') AS ${HEX}`
    return kind === 'float' || kind === 'double' ? `encode(float8send(${column}), 'hex') AS ${HEX}` : column
  },
  gathered: postgresGathered,
  // Alone, a page would cost the server more than it saves here. JSON inside of JSON costs both sides more than the messages of rows.
  gathersPage: (kinds, isAlone) => !isAlone && kinds.every((kind) => kind !== 'json' && kind !== 'tags'),
  handOver: postgresHandOver,
  decoders: {
    bool: (value) => value === 't',
    bytes: (value) => new Uint8Array(Buffer.from(value as string, 'hex')),
    float: fromHex,
    double: fromHex,
    timestamp: timeOf,
  },
  inlineDecoders: { bool: (value) => `${value} === 't'` },
  exactTime: exactTimeOf,
  holdsNonFinite: () => true,
  holdsTime: (value) => typeof value === 'string' && isPostgresTime(value),

  beginning: (column, length, kind) =>
    kind === 'bytes' ? `substring(${column} from 1 for ${length})` : `LEFT(${column}, ${length})`,
  /** NULL last ascending and first descending is its own order. */
  orderNullable: (column, direction) => (direction === 'asc' ? column : `${column} DESC`),
  contains: (text, needle) => `strpos(${text()}, ${needle()}) > 0`,
  json: postgresJson,
  tags: {
    value: (column, key, write) => `(${column} ->> ${write(key)}::text)`,
    has: (column, key, write, nullable) => {
      const has = `jsonb_exists(${column}, ${write(key)})`
      return nullable ? `COALESCE(${has}, FALSE)` : has
    },
    compared: byCodePoint,
    searched: byCodePoint,
  },
  containsTerm: undefined,

  tokens:
    /[eE]'(?:[^'\\]|\\[^]|'')*(?:'|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|--[^\n\r]*|\/\*[^]*?(?:\*\/|$)|(\$(?:[A-Za-z_]\w*)?\$)[^]*?(?:\1|$)|[A-Za-z_]\w*|;/g,
  control: controlStatements('|PREPARE TRANSACTION|SET SESSION CHARACTERISTICS'),
  begin: ({ isolation, readOnly }) => [
    ['BEGIN', isolation && `ISOLATION LEVEL ${isolation.toUpperCase()}`, readOnly === true && 'READ ONLY']
      .filter(Boolean)
      .join(' '),
  ],
  isSnapshotFixed: `SELECT current_setting('transaction_isolation') IN ('repeatable read', 'serializable')`,
  lockBeginsSnapshot: `SELECT current_setting('transaction_isolation') = 'repeatable read'`,
  merging: postgresMerging,
  keepsExactly,
  rowLock: ({ lock, wait }) => ` FOR ${lock.toUpperCase()}${LOCK_WAITS[wait]}`,
  /** A rollback to a savepoint reveals an ended transaction, so only errors that ended the session count. */
  endsTransaction: ({ fatal }) => fatal === true,
  mayRollBack: () => false,

  collation: 'COLLATE "C"',
  tableOptions: '',
  tableCollation: '',
  namespace: { kind: 'schema', find: 'SELECT 1 AS found FROM pg_namespace WHERE nspname = $1' },
  foreignKeys: {
    find: (table) => ({
      text: "SELECT conname AS name FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass($1)",
      values: [quoteTable(table, { quote })],
    }),
  },
  columnsWithoutForeignKey: undefined,
  updateTable: undefined,
  refusedKeys: () => [],
  inexactColumns,
  catalog: postgresCatalog,
  identify: () => Promise.resolve(postgres),
  migration: postgresMigration,

  stores: {
    now: 'clock_timestamp()',
    later: `(clock_timestamp() + ?::double precision * interval '1 millisecond')`,
    bound: { text: '?::text', bytes: '?::bytea', integer: '?::integer' },
    msUntil: (column) => `(extract(epoch FROM ${column} - clock_timestamp()) * 1000)::bigint`,
    bytesIn: (column) => `encode(${column}, 'hex')`,
    insertNew: (row) => `INSERT ${row} ON CONFLICT DO NOTHING`,
    notify: (channel) => `SELECT pg_notify('${channel}', '')`,
    updateRows: (table, { column: key, whileNull }, columns) =>
      `UPDATE ${table} t SET ${columns.map((column) => `${column} = k.${column}`).join(', ')} FROM json_to_recordset(?::json) ` +
      `AS k(${[key, ...columns].map((column) => `${column} bigint`).join(', ')}) WHERE t.${key} = k.${key} AND t.${whileNull} IS NULL`,
    /** A `?` of a quoted name is part of it. */
    numbered: (text) => {
      let n = 0
      return text.replace(/"[^"]*"|\?/g, (found) => (found === '?' ? `$${++n}` : found))
    },
  },
}
