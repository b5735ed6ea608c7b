import { expect } from 'chai'
import { migrate, MigrationError } from '../../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, problemOf } from '../each-engine.js'

onEachEngine(
  'an extension',
  (database) => {
    const of = (module: string, files: Readonly<Record<string, string>>) =>
      migrate({ url: database().url, module, files })
    const numbered = (...texts: readonly string[]) =>
      Object.assign({}, ...texts.map((text, at) => file(`000${at + 2}_step`, text, 'SELECT 1'))) as Record<
        string,
        string
      >
    const up = (module: string, ...texts: readonly string[]) => of(module, numbered(...texts)).up()

    const USES = [
      'CREATE TABLE people (id int PRIMARY KEY, name text, nick citext); CREATE INDEX ON people USING gin (name gin_trgm_ops)',
      'CREATE INDEX CONCURRENTLY people_nick ON people USING gin ((nick::text) gin_trgm_ops)',
      "INSERT INTO people VALUES (1, 'Ada', 'Countess'); CREATE VIEW known AS SELECT * FROM people WHERE nick = 'COUNTESS' AND name % 'Ada'",
    ]
    const isUsed = async (module: string) => {
      expect(await database().rows(`SELECT id FROM ${module}.known`)).to.deep.equal([{ id: 1 }])
      const [row] = await database().rows(
        `SELECT count(*)::int AS objects FROM pg_class WHERE relnamespace = '${module}'::regnamespace AND relname ~ '^(people|known)'`,
      )
      expect(row).to.deep.equal({ objects: 5 })
    }

    it('that one module makes is there for the next one', async () => {
      await up('billing', 'CREATE EXTENSION citext; CREATE EXTENSION pg_trgm')
      await up('inventory', 'CREATE EXTENSION IF NOT EXISTS citext', ...USES)
      await isUsed('inventory')
    })

    it('that was in public before is there for a module', async () => {
      await database().rows('CREATE EXTENSION citext')
      await database().rows('CREATE EXTENSION pg_trgm')
      await up('inventory', ...USES)
      await isUsed('inventory')
    })

    it('is there in schemas of any name, in several, and for a way back', async () => {
      await database().rows('CREATE SCHEMA "Odd, ""one""."')
      await database().rows('CREATE EXTENSION citext SCHEMA "Odd, ""one""."')
      await database().rows('CREATE EXTENSION pg_trgm')
      const files = file('0005_back', 'SELECT 1', "UPDATE people SET name = 'B' WHERE nick = 'COUNTESS'")
      await of('inventory', { ...numbered(...USES), ...files }).up()
      await isUsed('inventory')
      await of('inventory', { ...numbered(...USES), ...files }).down(4)
      expect(await database().rows('SELECT name FROM inventory.people')).to.deep.equal([{ name: 'B' }])
    })

    it('is there in the file that makes or moves it, wherever that puts it', async () => {
      await up(
        'inventory',
        'CREATE EXTENSION citext SCHEMA public; CREATE TABLE a (name citext)',
        'CREATE SCHEMA tools; ALTER EXTENSION citext SET SCHEMA tools; CREATE TABLE b (name citext)',
      )
      expect(await database().tables('inventory')).to.include.members(['a', 'b'])
    })

    describe('lets nothing else be found where it is', () => {
      beforeEach(() =>
        up(
          'billing',
          `CREATE EXTENSION citext;
           CREATE TABLE accounts (id int PRIMARY KEY, name text);
           CREATE INDEX accounts_name ON accounts (name);
           CREATE SEQUENCE numbers;
           CREATE TYPE mood AS ENUM ('glad');
           CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT 2 * n';
           CREATE DOMAIN size AS int;
           CREATE COLLATION bytewise FROM "C";
           CREATE TEXT SEARCH CONFIGURATION words (COPY = simple);
           INSERT INTO accounts VALUES (1, 'Ada')`,
        ),
      )

      const REFUSED = [
        'DROP TABLE accounts',
        'ALTER TABLE accounts ADD COLUMN note text',
        'ALTER TABLE IF EXISTS "accounts" RENAME TO gone',
        'TRUNCATE accounts',
        "UPDATE Accounts SET name = 'B'",
        'DELETE FROM accounts',
        "INSERT INTO accounts VALUES (2, 'B')",
        'CREATE TABLE copies AS SELECT * FROM accounts',
        'CREATE INDEX ON accounts (name)',
        'CREATE TABLE orders (account int REFERENCES accounts)',
        'DROP INDEX accounts_name',
        "SELECT nextval('numbers')",
        'DROP TYPE mood',
        'DROP FUNCTION twice',
        'ALTER FUNCTION twice(int) COST 7',
        'ALTER FUNCTION twice STRICT',
        'ALTER FUNCTION "twice" (int) RENAME TO thrice',
        'ALTER FUNCTION twice SET SCHEMA inventory',
        "ALTER ROUTINE twice SET work_mem = '1MB'",
        'GRANT EXECUTE ON FUNCTION twice TO public; REVOKE EXECUTE ON FUNCTION twice FROM public',
        "COMMENT ON FUNCTION twice IS 'mine'",
        'DO $$ BEGIN ALTER FUNCTION twice COST 7; EXCEPTION WHEN undefined_table THEN NULL; END $$',
        'ALTER DOMAIN size SET DEFAULT 1',
        'ALTER DOMAIN size ADD CHECK (VALUE > 0)',
        "ALTER TYPE mood ADD VALUE 'sad'",
        'CREATE TABLE days (mood mood)',
        'CREATE TABLE boxes (size size)',
        'CREATE TABLE names (name text COLLATE bytewise)',
        "CREATE TABLE texts (v tsvector GENERATED ALWAYS AS (to_tsvector('words'::regconfig, 'x')) STORED)",
        'CREATE VIEW doubled AS SELECT twice(1)',
        "DO $$ BEGIN EXECUTE 'DROP TABLE accounts'; END $$",
        'SELECT 1; /* in between */ LOCK TABLE accounts',
      ]
      for (const text of REFUSED)
        it(text, async () => {
          const error = await failureOf(up('inventory', text))
          expect(error).to.be.instanceOf(MigrationError)
          expect(problemOf(error)).to.include({
            ...{ kind: 'foundElsewhere', version: '0002_step', schema: 'inventory', found: 'billing' },
          })
          const [row] = await database().rows(
            `SELECT name, (SELECT count(*)::int FROM pg_class WHERE relnamespace = 'billing'::regnamespace AND relname ~ '^(accounts|numbers)') AS relations,
               'billing.mood'::regtype::text AS type, billing.twice(1) AS twice,
               (SELECT procost::int FROM pg_proc WHERE oid = 'billing.twice'::regproc) AS cost FROM billing.accounts`,
          )
          expect(row).to.deep.equal({ name: 'Ada', relations: 4, type: 'billing.mood', twice: 2, cost: 100 })
        })

      it('CREATE INDEX CONCURRENTLY', async () => {
        const error = await failureOf(up('inventory', 'CREATE INDEX CONCURRENTLY late ON accounts (name)'))
        expect(problemOf(error)).to.include({ kind: 'foundElsewhere', name: 'accounts', found: 'billing' })
        const rows = await database().rows(`SELECT 1 FROM pg_class WHERE relname = 'late'`)
        expect(rows).to.deep.equal([])
      })

      const MEANT = [
        'CREATE TABLE orders (id int, account int REFERENCES billing.accounts)',
        'CREATE TABLE orders (id int, accounts int REFERENCES billing . "accounts")',
        'CREATE TABLE accounts (id int); DROP TABLE accounts',
        'INSERT INTO billing.accounts VALUES (2, $$accounts$$)',
        'CREATE TABLE notes (accounts int); -- no table accounts is used here',
        'CREATE TYPE mood AS ENUM (); DROP TYPE mood',
        "CREATE TYPE mood AS ENUM ('glad'); CREATE TABLE days (mood mood)",
        "CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT n'; ALTER FUNCTION twice COST 7",
        'ALTER FUNCTION billing.twice COST 7',
        'SET LOCAL search_path = billing; ALTER TABLE accounts ADD COLUMN note text',
      ]
      for (const text of MEANT)
        it(`but what is meant: ${text}`, async () => {
          expect((await up('inventory', text)).applied).to.include('0002_step')
        })

      it('but by a foreign key that was made before', async () => {
        const { applied } = await up(
          'inventory',
          'CREATE TABLE orders (accounts int REFERENCES billing.accounts)',
          'INSERT INTO orders (accounts) VALUES (1)',
        )
        expect(applied).to.include('0003_step')
      })
    })
  },
  { dialects: ['postgres'] },
)
