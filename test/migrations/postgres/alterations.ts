import { type Alteration, column, escaped, KEY } from '../alteration.js'

/** The unique index made in another way. */
const otherKey = (name: string, text: string, found: RegExp): Alteration => ({
  name,
  sql: [`DROP INDEX ${KEY}`, text],
  found: [found],
})
const keyIs = (shape: string): RegExp =>
  new RegExp(
    `^the index ${KEY} of specimens is ${escaped(shape)} and has to be UNIQUE \\(account_id, code\\) WHERE deleted_at IS NULL: ashlar migrate diff NAME writes the file for the right one, and once no older image runs, diff NAME --contract the one that drops this, unless files of yours do already$`,
  )

export const POSTGRES_ALTERATIONS: readonly Alteration[] = [
  column(
    'a column is missing',
    'DROP COLUMN note',
    /^specimens\.note is missing: ashlar migrate diff NAME writes the file for it, unless a file of yours does already$/,
  ),
  column(
    'a column more',
    'ADD COLUMN colour text',
    /^specimens\.colour is not in the model: declare it; or, once no running image uses it, ashlar migrate diff NAME --contract writes the file that drops it, unless a file of yours does already$/,
  ),
  column(
    'an unbounded text',
    'ALTER COLUMN title TYPE text COLLATE "C"',
    /^specimens\.title is text and has to be character varying\(100\): once no older image runs, ashlar migrate diff NAME --contract writes the file for it, unless a file of yours does already$/,
  ),
  column(
    'a shorter text',
    'ALTER COLUMN title TYPE varchar(99) COLLATE "C"',
    /^specimens\.title is character varying\(99\) and has to/,
  ),
  column(
    'a shorter text of another collation',
    'ALTER COLUMN title TYPE varchar(99) COLLATE "default"',
    /, with the collation C in place of default: until then longer values are refused, and texts are ordered and compared by the other collation; once no older image runs, /,
  ),
  column(
    'a collation of the database',
    'ALTER COLUMN code TYPE varchar(255) COLLATE "default"',
    /^specimens\.code has the collation default and needs C: /,
  ),
  column(
    'a collation of a language',
    'ALTER COLUMN note TYPE text COLLATE "und-x-icu"',
    /^specimens\.note has the collation und-x-icu and needs C: .*; once no older image runs, ashlar migrate diff NAME --contract writes the file for it, unless a file of yours does already$/,
  ),
  column(
    'NULLs where there are none',
    'ALTER COLUMN title DROP NOT NULL',
    /^specimens\.title takes NULL and has to be NOT NULL: fill it first \(SELECT \* FROM "specimens" WHERE "title" IS NULL finds the rows, and ashlar migrate new NAME begins a backfill\); once no older image runs, ashlar migrate diff NAME --contract writes the file for it, unless a file of yours does already$/,
  ),
  column(
    'no NULLs where there may be',
    'ALTER COLUMN note SET NOT NULL',
    /^specimens\.note is NOT NULL and has to take NULL: once no older image runs, ashlar migrate diff NAME --contract writes the file for it, unless a file of yours does already$/,
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
      /^specimens lacks the index specimens_account_id_code_key UNIQUE \(account_id, code\) WHERE deleted_at IS NULL: ashlar migrate diff NAME writes the file for it, unless a file of yours does already$/,
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
      /^specimens lacks the index specimens_account_id_create_time_id_idx \(account_id, create_time, id\): ashlar migrate diff NAME writes the file for it, unless a file of yours does already$/,
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
    name: 'a unique index more within a tenant, which tells nobody what another has',
    sql: ['CREATE UNIQUE INDEX serials ON specimens (serial, account_id)'],
    found: [
      /^the index serials of specimens is UNIQUE \(serial, account_id\), which the model does not have: it refuses rows that are allowed; declare it, or ashlar migrate diff NAME --contract writes the file that drops it, unless a file of yours does already$/,
    ],
  },
  {
    name: 'a unique index more, which tells one tenant what another has',
    sql: ['CREATE UNIQUE INDEX serials ON specimens (serial)'],
    found: [
      /^the index serials of specimens is UNIQUE \(serial\), which the model does not have: it refuses rows that are allowed, and may tell one tenant what another has; declare it, /,
    ],
  },
  {
    name: 'an index that nobody can use',
    sql: [`UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${KEY}'::regclass`],
    found: [
      /^the index public\.specimens_account_id_code_key is INVALID: .*; REINDEX INDEX CONCURRENTLY builds it anew where it is wanted, else DROP INDEX CONCURRENTLY removes it$/,
    ],
  },
  {
    name: 'what a build of a unique index left behind, which gets one advice',
    sql: [
      'CREATE UNIQUE INDEX serials ON specimens (serial)',
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'serials'::regclass`,
    ],
    found: [/^the index public\.serials is INVALID: /],
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
    found: [
      /^notes is missing: ashlar migrate diff NAME writes the file for it, unless a file of yours does already$/,
    ],
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
