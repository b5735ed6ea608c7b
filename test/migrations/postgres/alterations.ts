import { type Alteration, column, found, KEY, type } from '../alteration.js'

const WANTED = 'UNIQUE (account_id, code) WHERE deleted_at IS NULL'
const PUBLIC_IDS = 'specimens_api_key_public_id_key'
const LISTS = 'specimens_account_id_create_time_id_idx'
const EXPIRY = 'specimens_expire_time_idx'

/** The unique index made in another way. */
const otherKey = (name: string, text: string, is: string): Alteration => ({
  name,
  sql: [`DROP INDEX ${KEY}`, text],
  found: [found('addIndex', { name: KEY, is, wanted: WANTED, next: 'both' })],
})
const invalid = (index: string) => ({
  ...{ kind: 'invalidIndex', index: `public.${index}`, leftBy: undefined, isOfReindex: false },
})

export const POSTGRES_ALTERATIONS: readonly Alteration[] = [
  column('a column is missing', 'DROP COLUMN note', 'addColumn', { column: 'note', next: 'expand' }),
  column('a column more', 'ADD COLUMN colour text', 'extraColumn', { column: 'colour', next: 'drop' }),
  type(
    'an unbounded text',
    'ALTER COLUMN title TYPE text COLLATE "C"',
    'title',
    'text',
    'character varying(100)',
  ),
  type(
    'a shorter text',
    'ALTER COLUMN title TYPE varchar(99) COLLATE "C"',
    'title',
    'character varying(99)',
    'character varying(100)',
  ),
  type(
    'a shorter text of another collation',
    'ALTER COLUMN title TYPE varchar(99) COLLATE "default"',
    'title',
    'character varying(99) COLLATE default',
    'character varying(100) COLLATE C',
  ),
  column(
    'a collation of the database',
    'ALTER COLUMN code TYPE varchar(255) COLLATE "default"',
    'collation',
    { column: 'code', is: 'default', wanted: 'C', next: 'contract' },
  ),
  column('a collation of a language', 'ALTER COLUMN note TYPE text COLLATE "und-x-icu"', 'collation', {
    ...{ column: 'note', is: 'und-x-icu', wanted: 'C', next: 'contract' },
  }),
  column('NULLs where there are none', 'ALTER COLUMN title DROP NOT NULL', 'nullable', {
    ...{ column: 'title', is: 'NULL', wanted: 'NOT NULL', next: 'contract' },
    fill: 'SELECT * FROM "specimens" WHERE "title" IS NULL',
  }),
  column('no NULLs where there may be', 'ALTER COLUMN note SET NOT NULL', 'nullable', {
    ...{ column: 'note', is: 'NOT NULL', wanted: 'NULL', next: 'contract' },
  }),
  type(
    'a time without its zone',
    'ALTER COLUMN due_time TYPE timestamp',
    'due_time',
    'timestamp without time zone',
    'timestamp with time zone',
  ),
  type(
    'fewer parts of a second',
    'ALTER COLUMN due_time TYPE timestamptz(0)',
    'due_time',
    'timestamp(0) with time zone',
    'timestamp with time zone',
  ),
  type('a wider number', 'ALTER COLUMN count TYPE bigint', 'count', 'bigint', 'integer'),
  type('a shorter number', 'ALTER COLUMN huge TYPE numeric(19)', 'huge', 'numeric(19,0)', 'numeric(20,0)'),
  type('a number of any length', 'ALTER COLUMN huge TYPE numeric', 'huge', 'numeric', 'numeric(20,0)'),
  type(
    'a float as a double',
    'ALTER COLUMN ratio TYPE double precision',
    'ratio',
    'double precision',
    'real',
  ),
  type('a double as a float', 'ALTER COLUMN score TYPE real', 'score', 'real', 'double precision'),
  type('json', 'ALTER COLUMN origin TYPE json', 'origin', 'json', 'jsonb'),
  type('bytes as text', "ALTER COLUMN blob TYPE text USING encode(blob, 'hex')", 'blob', 'text', 'bytea'),
  type(
    'a bool as a number',
    'ALTER COLUMN active TYPE integer USING active::integer',
    'active',
    'integer',
    'boolean',
  ),
  {
    name: 'a number that the database makes',
    sql: [
      'ALTER TABLE specimens DROP COLUMN rank',
      'ALTER TABLE specimens ADD COLUMN rank integer GENERATED ALWAYS AS (count + 1) STORED',
    ],
    found: [found('generated', { column: 'rank' })],
  },
  {
    name: 'no unique index',
    sql: [`DROP INDEX ${KEY}`],
    found: [found('addIndex', { name: KEY, wanted: WANTED, next: 'expand' })],
  },
  otherKey(
    'a unique index over deleted rows, too',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, code)`,
    'UNIQUE (account_id, code)',
  ),
  otherKey(
    'a unique index over deleted rows alone',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, code) WHERE deleted_at IS NOT NULL`,
    'UNIQUE (account_id, code) WHERE deleted_at IS NOT NULL',
  ),
  otherKey(
    'an index that is not unique',
    `CREATE INDEX ${KEY} ON specimens (account_id, code) WHERE deleted_at IS NULL`,
    '(account_id, code) WHERE deleted_at IS NULL',
  ),
  otherKey(
    'a unique index of all tenants together',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (code) WHERE deleted_at IS NULL`,
    'UNIQUE (code) WHERE deleted_at IS NULL',
  ),
  otherKey(
    'a unique index in another order',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (code, account_id) WHERE deleted_at IS NULL`,
    'UNIQUE (code, account_id) WHERE deleted_at IS NULL',
  ),
  otherKey(
    'a unique index by another collation',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, code COLLATE "und-x-icu") WHERE deleted_at IS NULL`,
    'UNIQUE (account_id, code COLLATE "und-x-icu") WHERE deleted_at IS NULL',
  ),
  otherKey(
    'a unique index that ignores case',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, lower(code)) WHERE deleted_at IS NULL`,
    'UNIQUE (account_id, (lower(code::text))) WHERE deleted_at IS NULL',
  ),
  otherKey(
    'a unique index that takes NULLs for equal',
    `CREATE UNIQUE INDEX ${KEY} ON specimens (account_id, code) NULLS NOT DISTINCT WHERE deleted_at IS NULL`,
    'UNIQUE (account_id, code) NULLS NOT DISTINCT WHERE deleted_at IS NULL',
  ),
  {
    name: 'a unique index that is checked at the end',
    sql: [
      `DROP INDEX ${PUBLIC_IDS}`,
      `ALTER TABLE specimens ADD CONSTRAINT ${PUBLIC_IDS} UNIQUE (api_key_public_id) DEFERRABLE`,
    ],
    found: [
      found('addIndex', {
        ...{ name: PUBLIC_IDS, is: 'UNIQUE (api_key_public_id) DEFERRABLE' },
        ...{ wanted: 'UNIQUE (api_key_public_id)', next: 'both' },
      }),
    ],
  },
  {
    name: 'no index of public ids',
    sql: [`DROP INDEX ${PUBLIC_IDS}`],
    found: [found('addIndex', { name: PUBLIC_IDS, wanted: 'UNIQUE (api_key_public_id)', next: 'expand' })],
  },
  {
    name: 'no index for lists',
    sql: [`DROP INDEX ${LISTS}`],
    found: [found('addIndex', { name: LISTS, wanted: '(account_id, create_time, id)', next: 'expand' })],
  },
  {
    name: 'an index for lists that is the wrong way round',
    sql: [`DROP INDEX ${LISTS}`, `CREATE INDEX ${LISTS} ON specimens (account_id, create_time DESC, id)`],
    found: [
      found('addIndex', {
        ...{ name: LISTS, is: '(account_id, create_time DESC, id)' },
        ...{ wanted: '(account_id, create_time, id)', next: 'both' },
      }),
    ],
  },
  {
    name: 'an index of another kind',
    sql: [`DROP INDEX ${EXPIRY}`, `CREATE INDEX ${EXPIRY} ON specimens USING brin (expire_time)`],
    found: [
      found('addIndex', {
        ...{ name: EXPIRY, is: 'USING brin (expire_time)', wanted: '(expire_time)', next: 'both' },
      }),
    ],
  },
  {
    name: 'an index with the operators of LIKE alone',
    sql: [
      `DROP INDEX ${PUBLIC_IDS}`,
      `CREATE UNIQUE INDEX ${PUBLIC_IDS} ON specimens (api_key_public_id text_pattern_ops)`,
    ],
    found: [
      found('addIndex', {
        ...{ name: PUBLIC_IDS, is: 'UNIQUE (api_key_public_id text_pattern_ops)' },
        ...{ wanted: 'UNIQUE (api_key_public_id)', next: 'both' },
      }),
    ],
  },
  {
    name: 'a unique index more within a tenant, which tells nobody what another has',
    sql: ['CREATE UNIQUE INDEX serials ON specimens (serial, account_id)'],
    found: [found('extraIndex', { name: 'serials', is: 'UNIQUE (serial, account_id)', next: 'drop' })],
  },
  {
    name: 'a unique index more, which tells one tenant what another has',
    sql: ['CREATE UNIQUE INDEX serials ON specimens (serial)'],
    found: [found('extraIndex', { name: 'serials', is: 'UNIQUE (serial)', next: 'drop' })],
  },
  {
    name: 'an index that nobody can use',
    sql: [`UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${KEY}'::regclass`],
    found: [invalid(KEY)],
  },
  {
    name: 'what a build of a unique index left behind, which gets one advice',
    sql: [
      'CREATE UNIQUE INDEX serials ON specimens (serial)',
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'serials'::regclass`,
    ],
    found: [invalid('serials')],
  },
  {
    name: 'a primary key without the tenant',
    sql: [
      'ALTER TABLE specimens DROP CONSTRAINT specimens_pkey',
      'ALTER TABLE specimens ADD PRIMARY KEY (id)',
    ],
    found: [found('primaryKey', { is: 'id', wanted: 'account_id, id' })],
  },
  {
    name: 'no primary key',
    sql: ['ALTER TABLE specimens DROP CONSTRAINT specimens_pkey'],
    found: [found('primaryKey', { is: '', wanted: 'account_id, id' })],
  },
  {
    name: 'a table that a crash empties',
    sql: ['ALTER TABLE notes SET UNLOGGED'],
    found: [
      {
        ...{ kind: 'fault', table: 'notes' },
        text: 'notes is not logged, so that a crash empties it: ALTER TABLE … SET LOGGED',
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
    sql: ['ALTER TABLE notes RENAME TO papers', 'CREATE VIEW notes AS SELECT * FROM papers'],
    found: [
      {
        ...{ kind: 'fault', table: 'notes' },
        text: 'notes is not a table: drop or rename what has its name',
      },
    ],
  },
  {
    name: 'a table of another schema',
    sql: ['CREATE SCHEMA aside', 'ALTER TABLE notes SET SCHEMA aside'],
    found: [{ kind: 'noTable', table: 'notes', next: 'expand' }],
  },
]
