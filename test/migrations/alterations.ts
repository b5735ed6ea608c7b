import type { Dialect } from '../../lib/migrations/index.js'

/** Something that somebody did to the table of specimens, and the lines that say so. */
export interface Alteration {
  readonly name: string
  readonly sql: readonly string[]
  readonly found: readonly RegExp[]
}

const column = (name: string, change: string, found: RegExp, table = 'specimens'): Alteration => ({
  name,
  sql: [`ALTER TABLE ${table} ${change}`],
  found: [found],
})

const KEY = 'specimens_account_id_code_key'

/** The unique index made in another way. */
const otherKey = (name: string, text: string, found: RegExp): Alteration => ({
  name,
  sql: [`DROP INDEX ${KEY}`, text],
  found: [found],
})
const keyIs = (shape: string): RegExp =>
  new RegExp(
    `^the index ${KEY} of specimens is ${escaped(shape)} and has to be UNIQUE \\(account_id, code\\) WHERE deleted_at IS NULL: drop it, then CREATE UNIQUE INDEX CONCURRENTLY`,
  )

function escaped(text: string): string {
  return text.replaceAll(/[()]/g, '\\$&')
}

export const POSTGRES_ALTERATIONS: readonly Alteration[] = [
  column(
    'a column is missing',
    'DROP COLUMN note',
    /^specimens\.note is missing: ALTER TABLE "specimens" ADD COLUMN "note" text COLLATE "C"$/,
  ),
  column(
    'a column more',
    'ADD COLUMN colour text',
    /^specimens\.colour is not in the model: declare it, or drop it once no running image uses it$/,
  ),
  column(
    'an unbounded text',
    'ALTER COLUMN title TYPE text COLLATE "C"',
    /^specimens\.title is text and has to be character varying\(100\): ALTER TABLE "specimens" ALTER COLUMN "title" TYPE varchar\(100\) COLLATE "C"$/,
  ),
  column(
    'a shorter text',
    'ALTER COLUMN title TYPE varchar(99) COLLATE "C"',
    /^specimens\.title is character varying\(99\) and has to/,
  ),
  column(
    'a collation of the database',
    'ALTER COLUMN code TYPE varchar(255) COLLATE "default"',
    /^specimens\.code has the collation default and needs C, /,
  ),
  column(
    'a collation of a language',
    'ALTER COLUMN note TYPE text COLLATE "und-x-icu"',
    /^specimens\.note has the collation und-x-icu and needs C, .*: ALTER TABLE "specimens" ALTER COLUMN "note" TYPE text COLLATE "C"$/,
  ),
  column(
    'NULLs where there are none',
    'ALTER COLUMN title DROP NOT NULL',
    /^specimens\.title takes NULL and has to be NOT NULL: .* ALTER COLUMN "title" SET NOT NULL$/,
  ),
  column(
    'no NULLs where there may be',
    'ALTER COLUMN note SET NOT NULL',
    /^specimens\.note is NOT NULL and has to take NULL: .* ALTER COLUMN "note" DROP NOT NULL$/,
  ),
  column(
    'a time without its zone',
    'ALTER COLUMN due_time TYPE timestamp',
    /^specimens\.due_time is timestamp without time zone and/,
  ),
  column(
    'fewer parts of a second',
    'ALTER COLUMN due_time TYPE timestamptz(0)',
    /^specimens\.due_time is timestamp\(0\) with time zone and/,
  ),
  column(
    'a wider number',
    'ALTER COLUMN count TYPE bigint',
    /^specimens\.count is bigint and has to be integer: /,
  ),
  column(
    'a shorter number',
    'ALTER COLUMN huge TYPE numeric(19)',
    /^specimens\.huge is numeric\(19,0\) and has to be numeric\(20,0\): /,
  ),
  column(
    'a number of any length',
    'ALTER COLUMN huge TYPE numeric',
    /^specimens\.huge is numeric and has to be numeric\(20,0\): /,
  ),
  column(
    'a float as a double',
    'ALTER COLUMN ratio TYPE double precision',
    /^specimens\.ratio is double precision and has to be real: /,
  ),
  column(
    'a double as a float',
    'ALTER COLUMN score TYPE real',
    /^specimens\.score is real and has to be double precision: /,
  ),
  column('json', 'ALTER COLUMN origin TYPE json', /^specimens\.origin is json and has to be jsonb: /),
  column(
    'bytes as text',
    "ALTER COLUMN blob TYPE text USING encode(blob, 'hex')",
    /^specimens\.blob is text and has to be bytea: /,
  ),
  column(
    'a bool as a number',
    'ALTER COLUMN active TYPE integer USING active::integer',
    /^specimens\.active is integer and has to be boolean: /,
  ),
  {
    name: 'a number that the database makes',
    sql: [
      'ALTER TABLE specimens DROP COLUMN rank',
      'ALTER TABLE specimens ADD COLUMN rank integer GENERATED ALWAYS AS (count + 1) STORED',
    ],
    found: [/^specimens\.rank is made by the database, and the model writes it: /],
  },
  {
    name: 'no unique index',
    sql: [`DROP INDEX ${KEY}`],
    found: [
      /^specimens lacks the index specimens_account_id_code_key UNIQUE \(account_id, code\) WHERE deleted_at IS NULL: CREATE UNIQUE INDEX CONCURRENTLY "specimens_account_id_code_key" ON "specimens" \("account_id", "code"\) WHERE "deleted_at" IS NULL$/,
    ],
  },
  otherKey(
    'a unique index over deleted rows, too',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, code)`,
    keyIs('UNIQUE (account_id, code)'),
  ),
  otherKey(
    'a unique index over deleted rows alone',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, code) WHERE deleted_at IS NOT NULL`,
    keyIs('UNIQUE (account_id, code) WHERE deleted_at IS NOT NULL'),
  ),
  otherKey(
    'an index that is not unique',
    `CREATE INDEX ${KEY} ON specimens (account_id, code) WHERE deleted_at IS NULL`,
    keyIs('(account_id, code) WHERE deleted_at IS NULL'),
  ),
  otherKey(
    'a unique index of all tenants together',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (code) WHERE deleted_at IS NULL`,
    keyIs('UNIQUE (code) WHERE deleted_at IS NULL'),
  ),
  otherKey(
    'a unique index in another order',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (code, account_id) WHERE deleted_at IS NULL`,
    keyIs('UNIQUE (code, account_id) WHERE deleted_at IS NULL'),
  ),
  otherKey(
    'a unique index by another collation',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, code COLLATE "und-x-icu") WHERE deleted_at IS NULL`,
    keyIs('UNIQUE (account_id, code COLLATE "und-x-icu") WHERE deleted_at IS NULL'),
  ),
  otherKey(
    'a unique index that ignores case',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, lower(code)) WHERE deleted_at IS NULL`,
    keyIs('UNIQUE (account_id, (lower(code::text))) WHERE deleted_at IS NULL'),
  ),
  otherKey(
    'a unique index that takes NULLs for equal',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, code) NULLS NOT DISTINCT WHERE deleted_at IS NULL`,
    keyIs('UNIQUE (account_id, code) NULLS NOT DISTINCT WHERE deleted_at IS NULL'),
  ),
  {
    name: 'a unique index that is checked at the end',
    sql: [
      'DROP INDEX specimens_api_key_public_id_key',
      'ALTER TABLE specimens ADD CONSTRAINT specimens_api_key_public_id_key UNIQUE (api_key_public_id) DEFERRABLE',
    ],
    found: [
      /^the index specimens_api_key_public_id_key of specimens is UNIQUE \(api_key_public_id\) DEFERRABLE and has to be UNIQUE \(api_key_public_id\): /,
    ],
  },
  {
    name: 'no index of public ids',
    sql: ['DROP INDEX specimens_api_key_public_id_key'],
    found: [/^specimens lacks the index specimens_api_key_public_id_key UNIQUE \(api_key_public_id\): /],
  },
  {
    name: 'no index for lists',
    sql: ['DROP INDEX specimens_account_id_create_time_id_idx'],
    found: [
      /^specimens lacks the index specimens_account_id_create_time_id_idx \(account_id, create_time, id\): CREATE INDEX CONCURRENTLY /,
    ],
  },
  {
    name: 'an index for lists that is the wrong way round',
    sql: [
      'DROP INDEX specimens_account_id_create_time_id_idx',
      'CREATE INDEX specimens_account_id_create_time_id_idx ON specimens (account_id, create_time DESC, id)',
    ],
    found: [
      /^the index specimens_account_id_create_time_id_idx of specimens is \(account_id, create_time DESC, id\) and has/,
    ],
  },
  {
    name: 'an index of another kind',
    sql: [
      'DROP INDEX specimens_expire_time_idx',
      'CREATE INDEX specimens_expire_time_idx ON specimens USING brin (expire_time)',
    ],
    found: [
      /^the index specimens_expire_time_idx of specimens is USING brin \(expire_time\) and has to be \(expire_time\): /,
    ],
  },
  {
    name: 'an index with the operators of LIKE alone',
    sql: [
      'DROP INDEX specimens_api_key_public_id_key',
      'CREATE UNIQUE INDEX specimens_api_key_public_id_key ON specimens (api_key_public_id varchar_pattern_ops)',
    ],
    found: [/ is UNIQUE \(api_key_public_id (?:text|varchar)_pattern_ops\) and has to be /],
  },
  {
    name: 'a unique index more, which tells one tenant what another has',
    sql: ['CREATE UNIQUE INDEX serials ON specimens (serial)'],
    found: [
      /^the index serials of specimens is UNIQUE \(serial\), which the model does not have: it refuses rows that are allowed, /,
    ],
  },
  {
    name: 'an index that nobody can use',
    sql: [`UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${KEY}'::regclass`],
    found: [
      /^the index public\.specimens_account_id_code_key is INVALID: .*; REINDEX INDEX CONCURRENTLY builds it anew$/,
    ],
  },
  {
    name: 'a primary key without the tenant',
    sql: [
      'ALTER TABLE specimens DROP CONSTRAINT specimens_pkey',
      'ALTER TABLE specimens ADD PRIMARY KEY (id)',
    ],
    found: [/^specimens has the primary key \(id\) and has to have \(account_id, id\): /],
  },
  {
    name: 'no primary key',
    sql: ['ALTER TABLE specimens DROP CONSTRAINT specimens_pkey'],
    found: [/^specimens has no primary key and has to have \(account_id, id\): /],
  },
  column(
    'a table that a crash empties',
    'SET UNLOGGED',
    /^notes is not logged, so that a crash empties it: /,
    'notes',
  ),
  {
    name: 'no table',
    sql: ['DROP TABLE notes'],
    found: [/^notes is missing: ashlar migrate new … --entities writes/],
  },
  {
    name: 'a view in its place',
    sql: ['ALTER TABLE notes RENAME TO papers', 'CREATE VIEW notes AS SELECT * FROM papers'],
    found: [/^notes is no table: /],
  },
  {
    name: 'a table of another schema',
    sql: ['CREATE SCHEMA aside', 'ALTER TABLE notes SET SCHEMA aside'],
    found: [/^notes is missing: /],
  },
]

/** How MariaDB is given its unique index. */
const mysqlKey = (name: string, key: string, shape: string): Alteration => ({
  name,
  sql: [`ALTER TABLE specimens DROP INDEX ${KEY}, ADD ${key}`],
  found: [
    new RegExp(
      `^the index ${KEY} of specimens is ${escaped(shape)} and has to be UNIQUE \\(account_id, code, soft_delete_key\\): drop it, then CREATE UNIQUE INDEX `,
    ),
  ],
})

export const MYSQL_ALTERATIONS: readonly Alteration[] = [
  column(
    'a column is missing',
    'DROP COLUMN note',
    /^specimens\.note is missing: ALTER TABLE `specimens` ADD COLUMN `note` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin$/,
  ),
  column('a column more', 'ADD COLUMN colour int', /^specimens\.colour is not in the model: /),
  column(
    'a shorter text',
    'MODIFY title varchar(99) COLLATE utf8mb4_nopad_bin NOT NULL',
    /^specimens\.title is varchar\(99\) and has to be varchar\(100\): ALTER TABLE `specimens` MODIFY `title` varchar\(100\) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL$/,
  ),
  column(
    'a text that ends early',
    'MODIFY note text COLLATE utf8mb4_nopad_bin',
    /^specimens\.note is text and has to be longtext: /,
  ),
  column(
    'a collation that ignores case',
    'MODIFY code varchar(255) COLLATE utf8mb4_general_ci NOT NULL',
    /^specimens\.code has the collation utf8mb4_general_ci and needs utf8mb4_nopad_bin, /,
  ),
  column(
    'a collation that ignores trailing spaces',
    'MODIFY serial varchar(255) COLLATE utf8mb4_bin NOT NULL',
    /^specimens\.serial has the collation utf8mb4_bin and needs utf8mb4_nopad_bin, /,
  ),
  column(
    'NULLs where there are none',
    'MODIFY title varchar(100) COLLATE utf8mb4_nopad_bin',
    /^specimens\.title takes NULL and has to be NOT NULL: /,
  ),
  column(
    'no NULLs where there may be',
    'MODIFY span bigint NOT NULL',
    /^specimens\.span is NOT NULL and has to take NULL: .* MODIFY `span` bigint$/,
  ),
  column(
    'fewer parts of a second',
    'MODIFY due_time datetime(3)',
    /^specimens\.due_time is datetime\(3\) and has to be datetime\(6\): /,
  ),
  column(
    'a time that depends on the session',
    'MODIFY due_time timestamp(6) NULL',
    /^specimens\.due_time is timestamp\(6\) and/,
  ),
  column(
    'a wider number',
    'MODIFY `count` bigint NOT NULL',
    /^specimens\.count is bigint and has to be int: /,
  ),
  column(
    'a number with a sign',
    'MODIFY weight int NOT NULL',
    /^specimens\.weight is int and has to be int unsigned: /,
  ),
  column(
    'a long number with a sign',
    'MODIFY huge bigint NOT NULL',
    /^specimens\.huge is bigint and has to be bigint unsigned: /,
  ),
  column(
    'a bool that is a number',
    'MODIFY active tinyint NOT NULL',
    /^specimens\.active is tinyint and has to be tinyint\(1\): /,
  ),
  column(
    'a double as a float',
    'MODIFY score float NOT NULL',
    /^specimens\.score is float and has to be double: /,
  ),
  column(
    'bytes that end early',
    'MODIFY `blob` blob NOT NULL',
    /^specimens\.blob is blob and has to be longblob: /,
  ),
  column(
    'json that is any text',
    'MODIFY origin longtext',
    /^specimens\.origin is longtext and has to be json: /,
  ),
  {
    name: 'a number that the database makes',
    sql: [
      'ALTER TABLE specimens DROP COLUMN `rank`',
      'ALTER TABLE specimens ADD COLUMN `rank` int GENERATED ALWAYS AS (`count` + 1) STORED',
    ],
    found: [/^specimens\.rank is made by the database, and the model writes it: /],
  },
  {
    name: 'no discriminator',
    sql: [`ALTER TABLE specimens DROP INDEX ${KEY}, DROP COLUMN soft_delete_key`],
    found: [
      /^specimens\.soft_delete_key is missing: ALTER TABLE `specimens` ADD COLUMN `soft_delete_key` varchar\(255\) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL DEFAULT ''$/,
      /^specimens lacks the index specimens_account_id_code_key UNIQUE \(account_id, code, soft_delete_key\): /,
    ],
  },
  column(
    'a discriminator that is not empty by itself',
    'ALTER COLUMN soft_delete_key DROP DEFAULT',
    /^specimens\.soft_delete_key has to have the default '': ALTER TABLE `specimens` MODIFY /,
  ),
  column(
    'a discriminator with another default',
    "ALTER COLUMN soft_delete_key SET DEFAULT 'x'",
    /^specimens\.soft_delete_key has to have the default '': /,
  ),
  {
    name: 'no unique index',
    sql: [`ALTER TABLE specimens DROP INDEX ${KEY}`],
    found: [
      /^specimens lacks the index specimens_account_id_code_key UNIQUE \(account_id, code, soft_delete_key\): CREATE UNIQUE INDEX `specimens_account_id_code_key` ON `specimens` \(`account_id`, `code`, `soft_delete_key`\)$/,
    ],
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
    sql: ['ALTER TABLE specimens DROP INDEX specimens_api_key_public_id_key'],
    found: [/^specimens lacks the index specimens_api_key_public_id_key UNIQUE \(api_key_public_id\): /],
  },
  {
    name: 'an index that no plan uses',
    sql: ['ALTER TABLE specimens ALTER INDEX specimens_expire_time_idx IGNORED'],
    found: [
      /^the index specimens_expire_time_idx of specimens is \(expire_time\) IGNORED and has to be \(expire_time\): /,
    ],
  },
  {
    name: 'a unique index more, which tells one tenant what another has',
    sql: ['ALTER TABLE specimens ADD UNIQUE KEY serials (serial)'],
    found: [/^the index serials of specimens is UNIQUE \(serial\), which the model does not have: /],
  },
  {
    name: 'a primary key without the tenant',
    sql: ['ALTER TABLE specimens DROP PRIMARY KEY, ADD PRIMARY KEY (id)'],
    found: [/^specimens has the primary key \(id\) and has to have \(account_id, id\): /],
  },
  {
    name: 'a table without transactions',
    sql: ['ALTER TABLE notes ENGINE=Aria'],
    found: [/^notes has the engine Aria, which has no transactions: /],
  },
  { name: 'no table', sql: ['DROP TABLE notes'], found: [/^notes is missing: /] },
  {
    name: 'a view in its place',
    sql: ['RENAME TABLE notes TO papers', 'CREATE VIEW notes AS SELECT * FROM papers'],
    found: [/^notes is no table: /],
  },
]

/** What changes nothing that the model has to do with. */
export const UNHARMFUL: Readonly<Record<Dialect, readonly Omit<Alteration, 'found'>[]>> = {
  postgres: [
    { name: 'an index of another name', sql: [`ALTER INDEX ${KEY} RENAME TO another_name`] },
    { name: 'an index more', sql: ['CREATE INDEX serials ON specimens (serial)'] },
    {
      name: 'a unique index that is a constraint',
      sql: [
        'DROP INDEX specimens_api_key_public_id_key',
        'ALTER TABLE specimens ADD CONSTRAINT public_ids UNIQUE (api_key_public_id)',
      ],
    },
    {
      name: 'an index that carries a column',
      sql: [
        'DROP INDEX specimens_expire_time_idx',
        'CREATE INDEX specimens_expire_time_idx ON specimens (expire_time) INCLUDE (id)',
      ],
    },
    {
      name: 'columns in another order',
      sql: [
        'ALTER TABLE notes DROP COLUMN text',
        'ALTER TABLE notes ADD COLUMN text varchar(255) COLLATE "C" NOT NULL',
      ],
    },
    { name: 'a default', sql: ['ALTER TABLE notes ALTER COLUMN stars SET DEFAULT 3'] },
    {
      name: 'a table of the same name elsewhere',
      sql: ['CREATE SCHEMA aside', 'CREATE TABLE aside.notes (id int)'],
    },
  ],
  mysql: [
    { name: 'an index of another name', sql: [`ALTER TABLE specimens RENAME INDEX ${KEY} TO another_name`] },
    { name: 'an index more', sql: ['CREATE INDEX serials ON specimens (serial)'] },
    { name: 'columns in another order', sql: ['ALTER TABLE notes MODIFY stars int NOT NULL FIRST'] },
    { name: 'a default', sql: ['ALTER TABLE notes ALTER COLUMN stars SET DEFAULT 3'] },
  ],
}
