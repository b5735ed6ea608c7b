import { controlStatements } from './control-in-text.js'
import type { Dialect } from './dialect.js'
import { isMariadbServer, mysqlCatalog } from './mysql/catalog.js'
import { mysqlJson } from './mysql/json.js'
import { exactBytes } from './mysql/exact-bytes.js'
import { inexactColumns } from './mysql/inexact-columns.js'
import { mysqlLiteral } from './mysql/default-text.js'
import { mysqlTypeormColumns } from './mysql/typeorm-columns.js'
import { mysqlKinds } from './mysql/kinds.js'
import { longKeys } from './mysql/long-keys.js'
import { mysqlCoalescing } from './mysql/coalescing.js'
import { mysqlMigration } from './mysql/migration.js'
import { mysqlTags } from './mysql/tags.js'
import { quoteTable } from './quote-table.js'
import { quoted } from './values/quoted.js'
import type { LockWait } from '../contract/row-lock.js'
import { LOCK_WAITS } from './values/lock-waits.js'

const MYSQL_METHODS: ReadonlyMap<string, string> = new Map([
  ['spatial', 'SPATIAL'],
  ['fulltext', 'FULLTEXT'],
])

/**
 * https://dev.mysql.com/doc/refman/8.4/en/implicit-commit.html,
 * https://mariadb.com/kb/en/sql-statements-that-cause-an-implicit-commit/
 */
const COMMITS_BY_ITSELF =
  '|XA|(?:CREATE(?: OR REPLACE)?|DROP) (?!TEMPORARY|OR)\\w+|ALTER|RENAME|TRUNCATE|GRANT|REVOKE|(?:UN)?LOCK|ANALYZE|CHECK|OPTIMIZE|REPAIR|FLUSH|RESET|CACHE INDEX|LOAD INDEX|(?:UN)?INSTALL|START|STOP|CHANGE|SET (?:.* )?autocommit'

const quote = (text: string): string => quoted(text, '`')

/**
 * The errors after which InnoDB has rolled back the transaction: a deadlock, and a lock timeout if so
 * configured.
 */
const ENDS_TRANSACTION = new Set<unknown>([1205, 1213])

/** The differences between MySQL 8 and MariaDB. Neither accepts the other's collation. */
interface Server {
  readonly name: 'mysql' | 'mariadb'
  readonly label: string
  readonly collation: string
  readonly otherCollation: string
  /** True for MariaDB. MySQL has no CREATE INDEX IF NOT EXISTS. */
  readonly indexIfMissing: boolean
  /** True for MariaDB, whose JSON columns are text columns with a check. */
  readonly jsonIsText: boolean
  /**
   * Returns the clause of a shared lock. MySQL accepts NOWAIT and SKIP LOCKED only after FOR SHARE, which
   * MariaDB does not have.
   */
  readonly shareLock: (wait: LockWait) => string
}

const dialect = ({
  name,
  label,
  collation,
  otherCollation,
  indexIfMissing,
  jsonIsText,
  shareLock,
}: Server): Dialect => ({
  name,
  label,
  can: {
    arrays: false,
    returning: false,
    distribution: false,
    setWrites: false,
    writeWith: false,
    lateral: false,
    rowComparison: false,
    partialIndexes: false,
    limitedDelete: true,
    indexIfMissing,
    transactionalDdl: false,
    failureBlocksTransaction: false,
    nullsInOrder: false,
    sortsInPart: false,
    fullText: false,
    infinities: false,
  },
  text: {
    quote,
    literal: mysqlLiteral,
    concat: (parts) => `CONCAT(${parts.join(', ')})`,
    /** The needle comes first in LOCATE, and so does its parameter. */
    contains: (text, needle) => {
      const first = needle()
      return `LOCATE(${first} COLLATE utf8mb4_bin, ${text()}) > 0`
    },
    containsTerm: (text) => `LOCATE(LOWER(?), LOWER(${text})) > 0`,
    // Comments with an exclamation mark are not skipped, because the server runs their content.
    tokens:
      /'(?:[^'\\]|\\[^]|'')*(?:'|$)|"(?:[^"\\]|\\[^]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|--[^\n]*|#[^\n]*|\/\*M?!\d*|\/\*[^]*?(?:\*\/|$)|[A-Za-z_]\w*|;/g,
    collation: `CHARACTER SET utf8mb4 COLLATE ${collation}`,
    exactly: exactBytes,
  },
  values: {
    kinds: mysqlKinds,
    countPlaceholder: () => '?',
    maxValues: 65535,
    /** MariaDB truncates a combined string at `group_concat_max_len`. */
    gathered: undefined,
    byteLength: (column) => `LENGTH(${column})`,
    gathersPage: () => false,
    handOver: undefined,
    orderNullable: (column, direction) =>
      direction === 'asc' ? `${column} IS NULL, ${column}` : `${column} IS NULL DESC, ${column} DESC`,
    /** Without the casts, the parameter would make this a comparison of strings. */
    later: (column, value) =>
      `GREATEST(COALESCE(${column}, CAST('1000-01-01' AS DATETIME)), CAST(${value} AS DATETIME(6)))`,
    json: mysqlJson,
    tags: mysqlTags,
    coalescing: mysqlCoalescing,
  },
  transactions: {
    control: controlStatements(COMMITS_BY_ITSELF),
    begin: ({ isolation, readOnly }) => [
      ...(isolation === undefined ? [] : [`SET TRANSACTION ISOLATION LEVEL ${isolation.toUpperCase()}`]),
      readOnly === true ? 'START TRANSACTION READ ONLY' : 'START TRANSACTION',
    ],
    rowLock: ({ lock, wait }) => ` ${lock === 'update' ? 'FOR UPDATE' : shareLock(wait)}${LOCK_WAITS[wait]}`,
    isSnapshotFixed: undefined,
    lockBeginsSnapshot: undefined,
    deferredRules: undefined,
    endsTransaction: ({ errno, fatal }) => fatal === true || ENDS_TRANSACTION.has(errno),
    mayRollBack: () => false,
  },
  ddl: {
    indexMethods: { of: (declared) => MYSQL_METHODS.get(declared), isFirst: true },
    now: 'CURRENT_TIMESTAMP(6)',
    typeormColumns: mysqlTypeormColumns,
    identity: {
      column: ' AUTO_INCREMENT',
      isPrimaryKey: false,
      endsWithKind: () => true,
      in64Bits: undefined,
      alone: '() VALUES ()',
      added: (table, { name, type }) =>
        `ALTER TABLE ${quoteTable(table, { text: { quote } })} MODIFY ${quote(name)} ${type} NOT NULL AUTO_INCREMENT`,
      last: 'LAST_INSERT_ID()',
    },
    tableOptions: ' ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4',
    /** The same migration runs on both servers: MariaDB reads the first comment, MySQL 8 the second. */
    tableCollation: ' COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */',
    updateTable: undefined,
    refusedKeys: longKeys,
    migration: mysqlMigration,
  },
  catalog: {
    suppressingTriggers: undefined,
    namespace: {
      kind: 'database',
      find: 'SELECT 1 AS found FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?',
      ofTable: undefined,
    },
    foreignKeys: {
      needsOneCollation: true,
      find: ({ schema, name }) => ({
        text: "SELECT CONSTRAINT_NAME AS name FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_TYPE = 'FOREIGN KEY' AND TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?",
        values: [schema ?? null, name],
      }),
    },
    columnsWithoutForeignKey: undefined,
    timesWithoutZone: undefined,
    roundedFloats: undefined,
    timesWithoutMillis: ({ schema, name }) => ({
      text: 'SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ? AND DATETIME_PRECISION < 3',
      values: [schema ?? null, name],
    }),
    inexactColumns,
    live: mysqlCatalog({ jsonIsText, exactCollations: [collation, otherCollation] }),
    identify: async (live) => ((await isMariadbServer(live)) ? mariadb : mysql),
  },
  stores: {
    now: 'UTC_TIMESTAMP(6)',
    later: 'DATE_ADD(UTC_TIMESTAMP(6), INTERVAL ? * 1000 MICROSECOND)',
    msUntil: (column) => `TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), ${column}) DIV 1000`,
    bound: { text: '?', bytes: '?', integer: '?' },
    bytesIn: (column) => column,
    insertNew: (row) => `INSERT IGNORE ${row}`,
    notify: undefined,
    // The index is forced because, right after a table was empty, its statistics favor a full scan, which
    // would lock every row.
    updateRows: (table, { column: key, index, whileNull }, columns) =>
      `UPDATE JSON_TABLE(?, '$[*]' COLUMNS (${[key, ...columns].map((column) => `${column} bigint PATH '$.${column}'`).join(', ')})) k ` +
      `STRAIGHT_JOIN ${table} t FORCE INDEX (${index}) ON t.${key} = k.${key} SET ${columns.map((column) => `t.${column} = k.${column}`).join(', ')} WHERE t.${whileNull} IS NULL`,
    numbered: (text) => text,
  },
})

const [MARIADB_COLLATION, MYSQL_COLLATION] = ['utf8mb4_nopad_bin', 'utf8mb4_0900_bin']

export const mysql = dialect({
  name: 'mysql',
  label: 'MySQL',
  collation: MYSQL_COLLATION,
  otherCollation: MARIADB_COLLATION,
  indexIfMissing: false,
  jsonIsText: false,
  shareLock: (wait) => (wait === 'block' ? 'LOCK IN SHARE MODE' : 'FOR SHARE'),
})

/** MariaDB through the MySQL driver. */
export const mariadb = dialect({
  name: 'mariadb',
  label: 'MariaDB',
  collation: MARIADB_COLLATION,
  otherCollation: MYSQL_COLLATION,
  indexIfMissing: true,
  jsonIsText: true,
  shareLock: () => 'LOCK IN SHARE MODE',
})
