import { type Alteration, column, escaped, KEY } from '../alteration.js'

/** How MariaDB is given its unique index. */
const mysqlKey = (name: string, key: string, shape: string): Alteration => ({
  name,
  sql: [`ALTER TABLE specimens DROP INDEX ${KEY}, ADD ${key}`],
  found: [
    new RegExp(
      `^the index ${KEY} of specimens is ${escaped(shape)} and has to be UNIQUE \\(account_id, code, soft_delete_key\\): ashlar migrate diff NAME writes the file for the right one, and once no older image runs, diff NAME --contract the one that drops this, unless files of yours do already$`,
    ),
  ],
})

export const MYSQL_ALTERATIONS: readonly Alteration[] = [
  {
    name: 'a unique index more within a tenant, which tells nobody what another has',
    sql: ['CREATE UNIQUE INDEX serials ON specimens (serial, account_id)'],
    found: [
      /^the index serials of specimens is UNIQUE \(serial, account_id\), which the model does not have: it refuses rows that are allowed; declare it, or ashlar migrate diff NAME --contract writes the file that drops it, unless a file of yours does already$/,
    ],
  },
  column(
    'a column is missing',
    'DROP COLUMN note',
    /^specimens\.note is missing: ashlar migrate diff NAME writes the file for it, unless a file of yours does already$/,
  ),
  column('a column more', 'ADD COLUMN colour int', /^specimens\.colour is not in the model: /),
  column(
    'a shorter text',
    'MODIFY title varchar(99) COLLATE utf8mb4_nopad_bin NOT NULL',
    /^specimens\.title is varchar\(99\) and has to be varchar\(100\): until then longer values are refused; once no older image runs, ashlar migrate diff NAME --contract writes the file for it, unless a file of yours does already$/,
  ),
  column(
    'a text that ends early',
    'MODIFY note text COLLATE utf8mb4_nopad_bin',
    /^specimens\.note is text and has to be longtext: /,
  ),
  column(
    'a collation that ignores case',
    'MODIFY code varchar(255) COLLATE utf8mb4_general_ci NOT NULL',
    /^specimens\.code has the collation utf8mb4_general_ci and needs utf8mb4_nopad_bin: /,
  ),
  column(
    'a collation that ignores trailing spaces',
    'MODIFY serial varchar(255) COLLATE utf8mb4_bin NOT NULL',
    /^specimens\.serial has the collation utf8mb4_bin and needs utf8mb4_nopad_bin: /,
  ),
  column(
    'NULLs where there are none',
    'MODIFY title varchar(100) COLLATE utf8mb4_nopad_bin',
    /^specimens\.title takes NULL and has to be NOT NULL: /,
  ),
  column(
    'no NULLs where there may be',
    'MODIFY span bigint NOT NULL',
    /^specimens\.span is NOT NULL and has to take NULL: once no older image runs, ashlar migrate diff NAME --contract writes the file for it, unless a file of yours does already$/,
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
      /^specimens\.soft_delete_key is missing: ashlar migrate diff NAME writes the file for it, unless a file of yours does already$/,
      /^specimens lacks the index specimens_account_id_code_key UNIQUE \(account_id, code, soft_delete_key\): /,
    ],
  },
  column(
    'a discriminator that is not empty by itself',
    'ALTER COLUMN soft_delete_key DROP DEFAULT',
    /^specimens\.soft_delete_key has to have the default '': ashlar migrate diff NAME writes the file for it, unless a file of yours does already$/,
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
      /^specimens lacks the index specimens_account_id_code_key UNIQUE \(account_id, code, soft_delete_key\): ashlar migrate diff NAME writes the file for it, unless a file of yours does already$/,
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
