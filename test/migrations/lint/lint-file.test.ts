import { expect } from 'chai'
import { ENGINES } from '../../../lib/migrations/engines.js'
import type { Dialect } from '../../../lib/migrations/files/dialect-name.js'
import { lintFile, RULES } from '../../../lib/migrations/lint/lint-file.js'
import { LINTS } from '../../../lib/migrations/messages/lint-messages.js'
import { readSet } from '../../../lib/migrations/migration-set.js'
import { splitStatements } from '../../../lib/migrations/sql/split-statements.js'

type Case = readonly [dialect: Dialect, sql: string, rules: readonly string[]]

const UP: readonly Case[] = [
  // What the engine refuses.
  ['postgres', '', ['empty-file']],
  ['postgres', '-- nothing', ['empty-file']],
  ['postgres', "SELECT 'a", ['unterminated']],
  ...['BEGIN', 'COMMIT', 'ROLLBACK', 'END', 'ABORT', 'START TRANSACTION', 'SAVEPOINT a', 'RELEASE a'].map(
    (sql): Case => ['postgres', sql, ['transaction-control']],
  ),
  ['postgres', "PREPARE TRANSACTION 'a'", ['transaction-control']],
  ...['BEGIN', 'COMMIT', 'XA START 1', 'LOCK TABLES t WRITE', 'UNLOCK TABLES', 'SET autocommit = 0'].map(
    (sql): Case => ['mysql', sql, ['transaction-control']],
  ),
  ['mysql', 'BEGIN NOT ATOMIC SELECT 1; END', []],
  ['postgres', 'CREATE INDEX CONCURRENTLY i ON t (a); SELECT 1', ['non-transactional']],
  ['postgres', 'SELECT 1; DROP INDEX CONCURRENTLY i', ['non-transactional']],
  ['postgres', 'REINDEX TABLE CONCURRENTLY t; SELECT 1', ['non-transactional']],
  ['postgres', 'REINDEX (CONCURRENTLY) INDEX i; SELECT 1', ['non-transactional']],
  ['postgres', 'ALTER TABLE t DETACH PARTITION p CONCURRENTLY; SELECT 1', ['non-transactional']],
  ['postgres', 'VACUUM t; SELECT 1', ['non-transactional']],
  ['postgres', 'CREATE INDEX CONCURRENTLY i ON t (a)', []],
  ['postgres', 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON ONLY s.t USING btree (a)', []],
  ['postgres', "SELECT 'CREATE INDEX CONCURRENTLY'; SELECT 1 -- COMMIT", []],
  ['postgres', 'CREATE INDEX CONCURRENTLY ON t (a)', ['index-needs-a-name']],
  ['postgres', '\\i other.sql', ['client-command']],
  ['postgres', 'COPY t FROM STDIN', ['client-command']],
  ['postgres', "COPY t FROM '/srv/rows.csv'", []],
  ['postgres', 'DO $$ BEGIN COMMIT; END $$', ['transaction-control']],
  ['postgres', 'DO $a$ BEGIN IF true THEN ROLLBACK; END IF; END $a$', ['transaction-control']],
  ['postgres', "DO 'BEGIN COMMIT; END'", ['transaction-control']],
  ['postgres', "DO $$ BEGIN PERFORM 'COMMIT;'; /* ; COMMIT */ END $$", []],
  ['postgres', "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p", ['leaves-the-database']],
  ['postgres', "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p WITH (create_slot = false)", []],
  ['postgres', 'ALTER SUBSCRIPTION s REFRESH PUBLICATION', ['leaves-the-database']],
  ['postgres', 'ALTER SUBSCRIPTION s SET PUBLICATION p', ['leaves-the-database']],
  ['postgres', 'ALTER SUBSCRIPTION s SET PUBLICATION p WITH (refresh = false)', []],
  ['postgres', 'ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s', []],
  ['postgres', 'DROP SUBSCRIPTION s', ['leaves-the-database']],
  ['postgres', 'DROP SUBSCRIPTION IF EXISTS s', ['leaves-the-database']],
  ['postgres', 'ALTER SUBSCRIPTION o SET (slot_name = NONE); DROP SUBSCRIPTION s', ['leaves-the-database']],
  ...[
    "UPDATE t SET m = 'ok'",
    "CREATE VIEW v AS SELECT 1 FROM t WHERE m = 'ok'",
    "DO $$ BEGIN UPDATE t SET m = 'ok'; END $$",
    "CREATE FUNCTION f() RETURNS mood LANGUAGE sql AS $$ SELECT 'ok'::mood $$",
  ].map((sql): Case => [
    'postgres',
    `ALTER TYPE mood ADD VALUE 'ok' AFTER 'sad'; ${sql}`,
    ['enum-value-in-use'],
  ]),
  ...[
    "COMMENT ON TYPE mood IS 'ok'",
    "ALTER TYPE mood ADD VALUE 'fine' AFTER 'ok'",
    "UPDATE t SET m = 'okay'",
    "CREATE FUNCTION f() RETURNS mood LANGUAGE plpgsql AS $$ BEGIN RETURN 'ok'; END $$",
  ].map((sql): Case => ['postgres', `ALTER TYPE mood ADD VALUE 'ok' AFTER 'sad'; ${sql}`, []]),
  [
    'postgres',
    "CREATE TYPE mood AS ENUM ('sad'); ALTER TYPE mood ADD VALUE 'ok' AFTER 'sad'; UPDATE t SET m = 'ok'",
    [],
  ],
  ['mysql', 'DELIMITER //', ['client-command']],
  ['mysql', 'SOURCE other.sql', ['client-command']],
  ['mysql', 'END IF', ['torn-body']],
  ['mysql', 'USE other', ['leaves-the-database']],
  ['mysql', 'CREATE SCHEMA other', ['leaves-the-database']],
  ['postgres', 'CREATE SCHEMA other', []],
  ['postgres', 'CREATE DATABASE other', ['leaves-the-database']],
  ['postgres', 'ALTER SYSTEM SET wal_level = logical', ['leaves-the-database']],
  ['postgres', 'UPDATE ashlar_migrations SET dirty = false', ['engine-state']],
  ['postgres', 'SELECT pg_advisory_unlock_all()', ['engine-state']],
  ['postgres', 'DISCARD ALL', ['engine-state']],
  ['mysql', 'DO RELEASE_ALL_LOCKS()', ['engine-state']],
  // The server refuses what says how it is carried out, instead of copying the table.
  ['mysql', 'ALTER TABLE t MODIFY a int NOT NULL, ALGORITHM=INPLACE, LOCK=NONE', []],
  ['mysql', 'ALTER TABLE t MODIFY a bigint, ALGORITHM=INSTANT', []],
  ['mysql', 'ALTER TABLE t MODIFY a bigint, ALGORITHM=INPLACE', ['changing-column-type']],
  [
    'mysql',
    'ALTER TABLE t MODIFY a bigint, ALGORITHM=COPY, LOCK=NONE',
    ['changing-column-type', 'algorithm-copy'],
  ],
  ['mysql', 'ALTER TABLE t DROP COLUMN a, ALGORITHM=INSTANT', ['ban-drop-column']],
  ['postgres', '-- ashlar:backfill\nUPDATE t SET a = b WHERE a IS NULL', []],
  ['postgres', '-- ashlar:backfill chunk=9\nUPDATE ONLY s.t AS u SET a = x.b FROM x WHERE x.id = u.id', []],
  ['postgres', '-- ashlar:backfill\nUPDATE t SET a = b WHERE id IN (SELECT id FROM u LIMIT 9)', []],
  ['postgres', '-- ashlar:backfill chunk=0\nUPDATE t SET a = b', ['backfill-form']],
  ['postgres', '-- ashlar:backfill chunk=100001\nUPDATE t SET a = b', ['backfill-form']],
  ['postgres', '-- ashlar:backfill chunks=9\nUPDATE t SET a = b', ['backfill-form']],
  ['postgres', '-- ashlar:backfill\nUPDATE t SET a = b RETURNING id', ['backfill-form']],
  [
    'postgres',
    '-- ashlar:backfill\nWITH u AS (SELECT 1) UPDATE t SET a = 1 FROM u WHERE true',
    ['backfill-form'],
  ],
  [
    'postgres',
    '-- ashlar:backfill\nUPDATE t SET a = 1 WHERE b; UPDATE t SET b = 1 WHERE a',
    ['backfill-form', 'backfill-form'],
  ],
  ['postgres', '-- ashlar:backfill\nDELETE FROM t WHERE a IS NULL', ['backfill-form']],
  ['mysql', '-- ashlar:backfill\nUPDATE `s`.t u SET a = b WHERE a IS NULL', []],
  ['mysql', '-- ashlar:backfill\nUPDATE t SET a = b WHERE a IS NULL LIMIT 9', ['backfill-form']],
  ['mysql', '-- ashlar:backfill\nUPDATE t SET a = b ORDER BY a', ['backfill-form']],
  ['mysql', '-- ashlar:backfill\nUPDATE t JOIN u ON t.id = u.id SET t.a = u.b', ['backfill-form']],
  ['mysql', '-- ashlar:backfill\nUPDATE t, u SET t.a = u.b WHERE t.id = u.id', ['backfill-form']],
  ['mysql', '-- ashlar:backfill\n/*!80000 UPDATE t SET a = b */', ['backfill-form']],
  ['postgres', 'DELETE FROM ashlar_backfills', ['engine-state']],
  // Nobody uses a table yet that the file itself makes.
  ['postgres', 'CREATE TABLE t (a text); CREATE INDEX i ON t (a); ALTER TABLE t ADD UNIQUE (a)', []],
  ['postgres', 'CREATE TABLE t (a text); CREATE INDEX i ON u (a)', ['require-concurrent-index-creation']],
  ['postgres', 'CREATE TABLE t (key varchar(255), timestamp timestamptz)', []],
  ['postgres', 'ALTER TABLE t ADD UNIQUE (a), RENAME CONSTRAINT b TO c', ['disallow-unique-constraint']],
  ['postgres', 'ALTER TABLE t RENAME CONSTRAINT b TO c', []],
  ['postgres', 'ALTER TABLE t ADD c int8 DEFAULT 1, DROP CONSTRAINT d', []],
  ['postgres', 'ALTER TABLE t ADD c uuid DEFAULT (((gen_random_uuid())))', ['adding-field-with-default']],
  ['postgres', 'ALTER TABLE t ADD c numeric DEFAULT 1::numeric(10, 2)', []],
  ['postgres', 'LOCK TABLE t', ['locking-a-table']],
  [
    'postgres',
    'ALTER TABLE t ADD COLUMN a int8 GENERATED ALWAYS AS (b + 1) STORED',
    ['adding-stored-generated-column'],
  ],
  [
    'postgres',
    'ALTER TABLE t DROP COLUMN IF EXISTS search_vector, ADD COLUMN search_vector tsvector GENERATED ALWAYS AS (x) STORED',
    ['adding-search-vector'],
  ],
  ['postgres', 'ALTER TABLE t DROP COLUMN a, ADD COLUMN a text', ['ban-drop-column']],
  ['postgres', 'DROP TYPE a CASCADE', ['ban-drop-cascade']],
  ['postgres', 'DROP FUNCTION a(text) CASCADE; DROP VIEW b RESTRICT', ['ban-drop-cascade']],
  ['postgres', 'ALTER TABLE t DROP CONSTRAINT a CASCADE, ADD COLUMN b text', ['ban-drop-cascade']],
  [
    'postgres',
    'ALTER TABLE t DROP CONSTRAINT a, ADD FOREIGN KEY (b) REFERENCES u (b) NOT VALID ON DELETE CASCADE',
    [],
  ],
  ['postgres', "CREATE ROLE r PASSWORD 'x'", ['password-in-a-file']],
  ['mysql', "CREATE USER IF NOT EXISTS u@h IDENTIFIED BY 'x'", ['password-in-a-file']],
  // What MySQL does differently.
  ['mysql', 'CREATE TABLE a (b int); CREATE TABLE c (d int)', ['one-ddl-per-file']],
  ['mysql', 'CREATE TABLE a (b int); INSERT INTO a VALUES (1)', []],
  ['mysql', 'RENAME TABLE a TO b', ['renaming-table', 'unrecoverable-statement']],
  [
    'mysql',
    'ALTER TABLE a CHANGE b c int',
    ['changing-column-type', 'renaming-column', 'unrecoverable-statement'],
  ],
  ['mysql', 'ALTER TABLE a CHANGE b b int', ['changing-column-type', 'unrecoverable-statement']],
  ['mysql', 'ALTER TABLE a DROP INDEX b', []],
  ['mysql', 'ALTER TABLE a DROP b', ['ban-drop-column']],
  [
    'mysql',
    'ALTER TABLE a ADD CONSTRAINT f FOREIGN KEY (b) REFERENCES c (d)',
    ['unrecoverable-statement', 'adding-foreign-key-constraint'],
  ],
  ['mysql', 'CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET NEW.b = 1', ['unrecoverable-statement']],
  ['mysql', 'CREATE OR REPLACE TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET NEW.b = 1', []],
  ['mysql', 'SET @a = 1; INSERT INTO t VALUES (@a)', ['session-state']],
  ['mysql', 'SET FOREIGN_KEY_CHECKS = 0; INSERT INTO t VALUES (1)', []],
  ['mysql', 'CREATE TABLE t (a int) ENGINE=MyISAM', ['engine-without-transactions']],
  ['mysql', 'CREATE TABLE t (a int) DEFAULT CHARSET=utf8', ['three-byte-utf8']],
  ['mysql', 'ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4', ['rebuilding-a-table']],
  ['mysql', 'CREATE INDEX i ON t (a)', []],
  ['mysql', '/*!50000 CREATE TABLE t (a int) ENGINE=MyISAM */', ['engine-without-transactions']],
  // What the file says it means.
  ['postgres', '-- ashlar:allow ban-drop-table: nobody uses it\nDROP TABLE t', []],
  ['postgres', 'DROP TABLE t /* ashlar:allow ban-drop-table, ban-drop-column */', []],
  ['postgres', "DROP TABLE t; SELECT 'ashlar:allow ban-drop-table'", ['ban-drop-table']],
  ['postgres', '-- ashlar:allow transaction-control\nCOMMIT', ['transaction-control']],
  ['postgres', '-- ashlar:allow ban-drop-tabel\nSELECT 1', ['unknown-rule']],
]

const DOWN: readonly Case[] = [
  ['postgres', '', ['empty-down']],
  ['postgres', '-- rows stay', []],
  ['postgres', 'DROP TABLE t; ALTER TABLE u DROP COLUMN c; DROP INDEX i', []],
  ['postgres', 'COMMIT', ['transaction-control']],
  ['postgres', 'DROP TABLE t CASCADE', ['ban-drop-cascade']],
  ['postgres', 'DROP INDEX CONCURRENTLY i; SELECT 1', ['non-transactional']],
  ['mysql', 'DROP TABLE a; DROP TABLE b', []],
  ['mysql', 'DROP TRIGGER t', ['unrecoverable-statement']],
]

describe('lintFile', () => {
  for (const [direction, cases] of [
    ['up', UP],
    ['down', DOWN],
  ] as const)
    for (const [dialect, sql, rules] of cases)
      it(`${dialect}, ${direction}: ${JSON.stringify(sql)}: ${rules.join(', ') || 'nothing'}`, () => {
        expect(lint(dialect, direction, sql).map(({ rule }) => rule)).to.deep.equal(rules)
      })

  it('warns that a stored vector rewrites the table, and at how many rows the timeout stops it', () => {
    const sql =
      "ALTER TABLE widgets ADD COLUMN search_vector tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, name)) STORED"
    const [finding] = lint('postgres', 'up', sql)
    expect(finding).to.include({ rule: 'adding-search-vector', level: 'advice' })
    expect(finding?.text).to.match(/ 4 million .* 60 s\b/)
    expect(lint('postgres', 'up', sql, 5_000)[0]?.text).to.match(/ 325000 .* 5 s\b/)
  })

  it('says the file, the line and what to do instead', () => {
    const rule = 'require-concurrent-index-creation'
    expect(lint('postgres', 'up', 'SELECT 1;\n\nCREATE INDEX i ON t (a)')).to.deep.equal([
      { file: 'file.sql', line: 3, rule, level: 'danger', text: LINTS[rule]() },
    ])
  })

  it('does not send a statement into a file of its own that has one', () => {
    const textOf = (sql: string) =>
      lint('mysql', 'up', sql).find(({ rule }) => rule === 'unrecoverable-statement')?.text ?? ''
    const said = LINTS['unrecoverable-statement']
    for (const [what, sql] of [
      ['move', 'ALTER TABLE a RENAME TO a2'],
      ['constraint', 'ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b (id)'],
    ] as const) {
      expect(textOf(sql)).to.equal(said({ what, isAlone: true }))
      expect(textOf(`SELECT 1; ${sql}`)).to.equal(said({ what, isAlone: false }))
    }
  })

  it('has one name for each rule of an engine', () => {
    for (const dialect of ['postgres', 'mysql'] as const) {
      const names = RULES.filter((rule) => (rule.dialect ?? dialect) === dialect).map(({ name }) => name)
      expect(new Set(names).size).to.equal(names.length)
    }
  })

  it('has nothing to say of ten thousand inserts', () => {
    const sql = "INSERT INTO t (a) VALUES ('x');\n".repeat(10_000)
    expect(lint('postgres', 'up', sql)).to.deep.equal([])
  })
})

describe('the framework’s own files', () => {
  for (const dialect of ['postgres', 'mysql'] as const)
    it(`pass lint on ${dialect} without a word`, async () => {
      expect((await readSet({}, ENGINES[dialect])).findings).to.deep.equal([])
    })
})

function lint(dialect: Dialect, direction: 'up' | 'down', sql: string, statementTimeoutMs = 60_000) {
  const script = splitStatements(sql, ENGINES[dialect].syntax)
  return lintFile({ name: 'file.sql', engine: ENGINES[dialect].lint, direction, script, statementTimeoutMs })
}
