import { expect } from 'chai'
import { postgresEffects } from '../../../lib/migrations/postgres/effects.js'
import { postgresSyntax } from '../../../lib/migrations/postgres/sql/syntax.js'
import { splitStatements } from '../../../lib/migrations/sql/split-statements.js'
import { onEachEngine } from '../each-engine.js'

const BEFORE = `
CREATE DOMAIN label AS varchar(20);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN small_positive AS positive;
CREATE DOMAIN later_positive AS int;
ALTER DOMAIN later_positive ADD CHECK (VALUE > 0);
CREATE DOMAIN random_id AS uuid DEFAULT gen_random_uuid();
CREATE TABLE t (id bigint PRIMARY KEY, v character varying(20), w text, c char(5), i int, n numeric(8,2),
  at timestamp(3), a varchar(20)[], d label, net cidr, b bit(3), renamed_from varchar(9));
ALTER TABLE t RENAME COLUMN renamed_from TO r;
INSERT INTO t (id, v) SELECT g, 'v' FROM generate_series(1, 5) g;
`

const CHANGES = [
  ...[
    'varchar(40)',
    'varchar(10)',
    'varchar',
    'text',
    'pg_catalog.text',
    '"varchar"(40)',
    'char(30)',
    'label',
  ],
  ...[
    'varchar(40) COLLATE "C"',
    'varchar(40) USING v::varchar(40)',
    'varchar(40) USING (CAST(v AS varchar(40)))',
  ],
  ...['text USING v', 'text USING trim(v)'],
].map((type) => `ALTER COLUMN v TYPE ${type}`)

const STATEMENTS = [
  ...CHANGES,
  ...[
    'w TYPE varchar',
    'w TYPE varchar(20)',
    'c TYPE char(9)',
    'c TYPE text',
    'i TYPE int4',
    'i TYPE bigint',
  ],
  ...['i TYPE oid', 'i TYPE positive', 'n TYPE numeric(10,2)', 'n TYPE decimal(10,3)', 'n TYPE numeric'],
  ...['at TYPE timestamp(6)', 'at TYPE timestamp(1)', 'at TYPE timestamp without time zone'],
  ...['a TYPE varchar[]', 'a TYPE text[]', 'a TYPE varchar(40)[]', 'd TYPE text', 'd TYPE varchar(30)'],
  ...['net TYPE inet', 'b TYPE varbit', 'r SET DATA TYPE varchar(10)'],
].map((change) => (change.startsWith('ALTER') ? change : `ALTER COLUMN ${change}`))

const ADDED = [
  ...['int', 'positive', 'positive DEFAULT 5', 'small_positive', 'later_positive', 'positive[]', 'label'],
  ...['random_id', 'random_id DEFAULT NULL', 'int DEFAULT 1', 'timestamptz DEFAULT now()', 'serial'],
].map((type) => `ADD COLUMN x ${type}`)

onEachEngine(
  'the plan of a column that changes',
  (database) => {
    const statementsIn = (sql: string) => splitStatements(sql, postgresSyntax).statements
    const file = async () =>
      (await database().rows(`SELECT pg_relation_filenode('t')::text AS file`)).map(({ file: now }) => now)

    it('reports that every row is written if PostgreSQL writes the table to another file', async () => {
      const before = statementsIn(BEFORE)
      for (const { text } of before) await database().rows(text)
      const planned: Record<string, boolean> = {}
      const done: Record<string, boolean> = {}
      for (const action of [...STATEMENTS, ...ADDED]) {
        const [statement] = statementsIn(`ALTER TABLE t ${action}`)
        if (statement === undefined) continue
        planned[action] = postgresEffects.effectOf(statement, before).rows === 'rewritten'
        await database().rows('BEGIN')
        const old = await file()
        await database().rows(statement.text)
        done[action] = String(await file()) !== String(old)
        await database().rows('ROLLBACK')
      }
      expect(planned).to.deep.equal(done)
    })
  },
  { dialects: ['postgres'] },
)
