import { expect } from 'chai'
import { migrate, type MigrateOptions } from '../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, tables } from './each-engine.js'

/** The history of another tool, and a file that says how far it was. */
const HISTORY = 'CREATE TABLE migrations (id int, timestamp bigint, name varchar(9))'
const ADOPTED = file(
  '0002_t2',
  '-- ashlar:adopted migrations at 7 0123456789ab\nCREATE TABLE t2 (id bigint PRIMARY KEY)',
  'DROP TABLE t2',
)

onEachEngine('what up would refuse', (database, dialect) => {
  const migrator = (files: MigrateOptions['files']) => migrate({ url: database().url, files })
  const before = tables(2)

  const CASES: Readonly<
    Record<string, readonly [files: Readonly<Record<string, string>>, said: RegExp, prepare?: () => unknown]>
  > = {
    'an applied file that was edited': [
      { ...before, '0002_t2.up.sql': 'CREATE TABLE t2 (id int)', ...tables(3) },
      dialect === 'postgres'
        ? /0002_t2\.up\.sql was edited after it was applied \(applied [0-9a-f]{12}…, now [0-9a-f]{12}…\)\. .* give each module a schema of its own with --module or --schema$/
        : /0002_t2\.up\.sql was edited after it was applied \(applied [0-9a-f]{12}…, now [0-9a-f]{12}…\)\. .* give each module a database of its own$/,
    ],
    'files of another module': [
      Object.fromEntries(
        [2, 3, 4, 5, 6].flatMap((at) =>
          Object.entries(file(`000${at}_other`, `CREATE TABLE other${at} (id bigint)`, '-- nothing')),
        ),
      ),
      /0002_other\.up\.sql is not 0002_t2, which was applied \(.*; 0004_other[^;]*; and 2 more\. These may be the files of another database or module: name the right folder with --files/,
      () => migrator(tables(2, 3, 4, 5, 6)).up(),
    ],
    'a file without a statement': [
      { ...before, ...file('0003_none', '-- later', '-- nothing') },
      /0003_none\.up\.sql:1: has no statement/,
    ],
    'a statement that cannot run': [
      { ...before, ...file('0003_begin', 'BEGIN; CREATE TABLE t3 (id bigint); COMMIT', '-- nothing') },
      /0003_begin\.up\.sql:1: /,
    ],
    'a schema that the tool that was taken over has changed since': [
      { ...ADOPTED, ...tables(3) },
      /TypeORM has changed this schema since it was taken over/,
      async () => {
        await migrator(ADOPTED).up()
        await database().rows(HISTORY)
      },
    ],
    ...(dialect === 'mysql' && {
      'a file whose first statement is done and was edited': [
        { ...before, ...file('0003_two', 'CREATE TABLE other (id bigint); SELECT 1', '-- nothing') },
        /0003_two\.up\.sql: statement 1 is done, which MySQL cannot undo, and statement 1 was edited since: put back what up_sql of version 3 in ashlar_migrations has there, and correct the file from statement 2 on/,
        () =>
          failureOf(
            migrator({
              ...before,
              ...file('0003_two', 'CREATE TABLE t3 (id bigint); nonsense', '-- nothing'),
            }).up(),
          ),
      ],
    }),
  }
  for (const [what, [files, said, prepare]] of Object.entries(CASES))
    it(`is refused by a plan in the same words: ${what}`, async () => {
      await (prepare ?? migrator(before).up)()
      const planned = await failureOf(migrator(files).plan())
      expect(planned.message).to.match(said)
      const run = await failureOf(migrator(files).up())
      expect([run.constructor, run.message]).to.deep.equal([planned.constructor, planned.message])
    })

  it('is not refused where it is applied already, or taken over', async () => {
    await migrator(before).up()
    expect(await migrator(before).plan()).to.deep.equal([])
  })
})

onEachEngine(
  'what another tool has recorded',
  (database) => {
    it('is no part of a plan, and refused by it as by up where these files do not have it', async () => {
      const migrator = (files: MigrateOptions['files']) => migrate({ url: database().url, files })
      const { rows } = database()
      await rows('CREATE TABLE schema_migrations (version bigint, dirty boolean)')
      await rows('INSERT INTO schema_migrations VALUES (2, false)')
      const planned = await migrator(tables(2, 3)).plan()
      expect(planned.map(({ name }) => name)).to.deep.equal(['0003_t3', '8001_outbox_log'])
      const refused = await failureOf(migrator({}).plan())
      expect(refused.message).to.match(/schema_migrations is at 0002, which these files do not have/)
      expect((await failureOf(migrator({}).up())).message).to.equal(refused.message)
    })
  },
  { empty: true },
)
