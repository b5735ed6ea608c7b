import { expect } from 'chai'
import { migrate, type MigrateOptions } from '../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, problemOf, tables } from './each-engine.js'

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
    Record<
      string,
      readonly [files: Readonly<Record<string, string>>, problem: object, prepare?: () => unknown]
    >
  > = {
    'an applied file that was edited': [
      { ...before, '0002_t2.up.sql': 'CREATE TABLE t2 (id int)', ...tables(3) },
      { kind: 'edited', 'files[0].file': '0002_t2.up.sql', 'files[0].isRenamed': false },
    ],
    'files of another module': [
      Object.fromEntries(
        [2, 3, 4, 5, 6].flatMap((at) =>
          Object.entries(file(`000${at}_other`, `CREATE TABLE other${at} (id bigint)`, '-- nothing')),
        ),
      ),
      { kind: 'edited', 'files[4].file': '0006_other.up.sql', 'files[4].isRenamed': true },
      () => migrator(tables(2, 3, 4, 5, 6)).up(),
    ],
    'a file without a statement': [
      { ...before, ...file('0003_none', '-- later', '-- nothing') },
      { kind: 'refused', file: '0003_none.up.sql', line: 1, rule: 'empty-file' },
    ],
    'a statement that cannot run': [
      { ...before, ...file('0003_begin', 'BEGIN; CREATE TABLE t3 (id bigint); COMMIT', '-- nothing') },
      { kind: 'refused', file: '0003_begin.up.sql', line: 1, rule: 'transaction-control' },
    ],
    'a schema that the tool that was taken over has changed since': [
      { ...ADOPTED, ...tables(3) },
      { kind: 'otherToolMoved', tool: 'TypeORM' },
      async () => {
        await migrator(ADOPTED).up()
        await database().rows(HISTORY)
      },
    ],
    ...(dialect === 'mysql' && {
      'a file whose first statement is done and was edited': [
        { ...before, ...file('0003_two', 'CREATE TABLE other (id bigint); SELECT 1', '-- nothing') },
        {
          kind: 'beginningEdited',
          number: 3,
          direction: 'up',
          done: 1,
          edited: 1,
          table: 'ashlar_migrations',
        },
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
  for (const [what, [files, problem, prepare]] of Object.entries(CASES))
    it(`is refused by a plan for the same reason: ${what}`, async () => {
      await (prepare ?? migrator(before).up)()
      const planned = await failureOf(migrator(files).plan())
      expect(problemOf(planned)).to.have.nested.include(problem)
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
    it('is not part of a plan, and refused by it as by up where these files do not have it', async () => {
      const migrator = (files: MigrateOptions['files']) => migrate({ url: database().url, files })
      const { rows } = database()
      await rows('CREATE TABLE schema_migrations (version bigint, dirty boolean)')
      await rows('INSERT INTO schema_migrations VALUES (2, false)')
      const planned = await migrator(tables(2, 3)).plan()
      expect(planned.map(({ name }) => name)).to.deep.equal(['0003_t3', '8001_outbox_log'])
      const refused = await failureOf(migrator({}).plan())
      expect(problemOf(refused)).to.deep.equal({
        ...{ kind: 'otherUnknown', table: 'schema_migrations', number: 2 },
      })
      expect((await failureOf(migrator({}).up())).message).to.equal(refused.message)
    })
  },
  { empty: true },
)
