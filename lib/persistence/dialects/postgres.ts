import { controlStatements } from './control-in-text.js'
import type { Dialect } from './dialect.js'
import { postgresCatalog } from './postgres/catalog.js'
import { postgresGathered } from './postgres/gathered.js'
import { postgresJson } from './postgres/json.js'
import { postgresHandOver } from './postgres/hand-over.js'
import { inexactColumns } from './postgres/inexact-columns.js'
import { postgresMigration } from './postgres/migration.js'
import { postgresMerging } from './postgres/merging.js'
import { postgresKinds } from './postgres/kinds.js'
import { quoteTable } from './quote-table.js'
import { quoted, textLiteral } from './values/quoted.js'
import { LOCK_WAITS } from './values/lock-waits.js'

const quote = (name: string): string => quoted(name, '"')

const byCodePoint = (text: string): string => `${text} COLLATE "C"`

export const postgres: Dialect = {
  name: 'postgres',
  label: 'PostgreSQL',
  can: {
    arrays: true,
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
    nullsInOrder: true,
    sortsInPart: true,
    fullText: true,
    leaseAlone: false,
    infinities: false,
  },

  mintedUuid: 'gen_random_uuid()',
  quote,
  literal: textLiteral,
  concat: (parts) => `(${parts.join(' || ')})`,

  kinds: postgresKinds,
  countPlaceholder: (index) => `$${index}`,
  /** node `pg` sends the count in 16 bits and wraps around silently. */
  maxValues: 65535,
  gathered: postgresGathered,
  // Alone, a page would cost the server more than it saves here. JSON inside of JSON costs both sides more
  // than the messages of rows.
  gathersPage: (fields, isAlone) => !isAlone && fields.every(({ json }) => json === undefined),
  handOver: postgresHandOver,
  /** NULL last ascending and first descending is its own order. */
  orderNullable: (column, direction) => (direction === 'asc' ? column : `${column} DESC`),
  later: (column, value) => `GREATEST(${column}, ${value})`,
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
