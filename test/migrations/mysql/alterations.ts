import { type Alteration, column, found, KEY, type } from '../alteration.js'

const EXACT = 'utf8mb4_nopad_bin'
const WANTED = 'UNIQUE (account_id, code, soft_delete_key)'
const PUBLIC_IDS = 'specimens_api_key_public_id_key'
const EXPIRY = 'specimens_expire_time_idx'

/** How MariaDB is given its unique index. */
const mysqlKey = (name: string, key: string, is: string): Alteration => ({
  name,
  sql: [`ALTER TABLE specimens DROP INDEX ${KEY}, ADD ${key}`],
  found: [found('addIndex', { name: KEY, is, wanted: WANTED, next: 'both' })],
})

export const MYSQL_ALTERATIONS: readonly Alteration[] = [
  {
    name: 'a unique index more within a tenant, which tells nobody what another has',
    sql: ['CREATE UNIQUE INDEX serials ON specimens (serial, account_id)'],
    found: [found('extraIndex', { name: 'serials', is: 'UNIQUE (serial, account_id)', next: 'drop' })],
  },
  column('a column is missing', 'DROP COLUMN note', 'addColumn', { column: 'note', next: 'expand' }),
  column('a column more', 'ADD COLUMN colour int', 'extraColumn', { column: 'colour', next: 'drop' }),
  type(
    'a shorter text',
    `MODIFY title varchar(99) COLLATE ${EXACT} NOT NULL`,
    'title',
    'varchar(99)',
    'varchar(100)',
  ),
  type('a text that ends early', `MODIFY note text COLLATE ${EXACT}`, 'note', 'text', 'longtext'),
  column(
    'a collation that ignores case',
    'MODIFY code varchar(255) COLLATE utf8mb4_general_ci NOT NULL',
    'collation',
    { column: 'code', is: 'utf8mb4_general_ci', wanted: EXACT, next: 'contract' },
  ),
  column(
    'a collation that ignores trailing spaces',
    'MODIFY serial varchar(255) COLLATE utf8mb4_bin NOT NULL',
    'collation',
    { column: 'serial', is: 'utf8mb4_bin', wanted: EXACT, next: 'contract' },
  ),
  column('NULLs where there are none', `MODIFY title varchar(100) COLLATE ${EXACT}`, 'nullable', {
    ...{ column: 'title', is: 'NULL', wanted: 'NOT NULL', next: 'contract' },
    fill: 'SELECT * FROM `specimens` WHERE `title` IS NULL',
  }),
  column('no NULLs where there may be', 'MODIFY span bigint NOT NULL', 'nullable', {
    ...{ column: 'span', is: 'NOT NULL', wanted: 'NULL', next: 'contract' },
  }),
  type('fewer parts of a second', 'MODIFY due_time datetime(3)', 'due_time', 'datetime(3)', 'datetime(6)'),
  type(
    'a time that depends on the session',
    'MODIFY due_time timestamp(6) NULL',
    'due_time',
    'timestamp(6)',
    'datetime(6)',
  ),
  type('a wider number', 'MODIFY `count` bigint NOT NULL', 'count', 'bigint', 'int'),
  type('a number with a sign', 'MODIFY weight int NOT NULL', 'weight', 'int', 'int unsigned'),
  type('a long number with a sign', 'MODIFY huge bigint NOT NULL', 'huge', 'bigint', 'bigint unsigned'),
  type('a bool that is a number', 'MODIFY active tinyint NOT NULL', 'active', 'tinyint', 'tinyint(1)'),
  type('a double as a float', 'MODIFY score float NOT NULL', 'score', 'float', 'double'),
  type('bytes that end early', 'MODIFY `blob` blob NOT NULL', 'blob', 'blob', 'longblob'),
  type('json that is any text', 'MODIFY origin longtext', 'origin', 'longtext', 'json'),
  {
    name: 'a number that the database makes',
    sql: [
      'ALTER TABLE specimens DROP COLUMN `rank`',
      'ALTER TABLE specimens ADD COLUMN `rank` int GENERATED ALWAYS AS (`count` + 1) STORED',
    ],
    found: [found('generated', { column: 'rank' })],
  },
  {
    name: 'no discriminator',
    sql: [`ALTER TABLE specimens DROP INDEX ${KEY}, DROP COLUMN soft_delete_key`],
    found: [
      found('addColumn', { column: 'soft_delete_key', next: 'expand' }),
      found('addIndex', { name: KEY, wanted: WANTED, next: 'expand' }),
    ],
  },
  column(
    'a discriminator that is not empty by itself',
    'ALTER COLUMN soft_delete_key DROP DEFAULT',
    'default',
    { column: 'soft_delete_key', wanted: "''", next: 'expand' },
  ),
  column('a discriminator with another default', "ALTER COLUMN soft_delete_key SET DEFAULT 'x'", 'default', {
    column: 'soft_delete_key',
    is: "'x'",
    wanted: "''",
    next: 'expand',
  }),
  {
    name: 'no unique index',
    sql: [`ALTER TABLE specimens DROP INDEX ${KEY}`],
    found: [found('addIndex', { name: KEY, wanted: WANTED, next: 'expand' })],
  },
  mysqlKey(
    'a unique index over deleted rows, too',
    `UNIQUE KEY ${KEY} (account_id, code)`,
    'UNIQUE (account_id, code)',
  ),
  mysqlKey(
    'an index that is not unique',
    `KEY ${KEY} (account_id, code, soft_delete_key)`,
    '(account_id, code, soft_delete_key)',
  ),
  mysqlKey(
    'a unique index of all tenants together',
    `UNIQUE KEY ${KEY} (code, soft_delete_key)`,
    'UNIQUE (code, soft_delete_key)',
  ),
  mysqlKey(
    'a unique index over the beginning of values',
    `UNIQUE KEY ${KEY} (account_id, code(5), soft_delete_key)`,
    'UNIQUE (account_id, code(5), soft_delete_key)',
  ),
  {
    name: 'no index of public ids',
    sql: [`ALTER TABLE specimens DROP INDEX ${PUBLIC_IDS}`],
    found: [found('addIndex', { name: PUBLIC_IDS, wanted: 'UNIQUE (api_key_public_id)', next: 'expand' })],
  },
  {
    name: 'an index that no plan uses',
    sql: [`ALTER TABLE specimens ALTER INDEX ${EXPIRY} IGNORED`],
    found: [
      found('addIndex', {
        ...{ name: EXPIRY, is: '(expire_time) IGNORED', wanted: '(expire_time)', next: 'both' },
      }),
    ],
  },
  {
    name: 'a unique index more, which tells one tenant what another has',
    sql: ['ALTER TABLE specimens ADD UNIQUE KEY serials (serial)'],
    found: [found('extraIndex', { name: 'serials', is: 'UNIQUE (serial)', next: 'drop' })],
  },
  {
    name: 'a primary key without the tenant',
    sql: ['ALTER TABLE specimens DROP PRIMARY KEY, ADD PRIMARY KEY (id)'],
    found: [found('primaryKey', { is: 'id', wanted: 'account_id, id' })],
  },
  {
    name: 'a table without transactions',
    sql: ['ALTER TABLE notes ENGINE=Aria'],
    found: [
      {
        ...{ kind: 'fault', table: 'notes' },
        text: 'notes has the engine Aria, which has no transactions: ENGINE=InnoDB',
      },
    ],
  },
  {
    name: 'no table',
    sql: ['DROP TABLE notes'],
    found: [{ kind: 'noTable', table: 'notes', next: 'expand' }],
  },
  {
    name: 'a view in its place',
    sql: ['RENAME TABLE notes TO papers', 'CREATE VIEW notes AS SELECT * FROM papers'],
    found: [
      {
        ...{ kind: 'fault', table: 'notes' },
        text: 'notes is not a table: drop or rename what has its name',
      },
    ],
  },
]
