import { expect } from 'chai'
import { MigrationError } from '../../lib/errors.js'
import { migrate, type MigrateOptions, type Progress } from '../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, tables } from './each-engine.js'
import { BASELINE } from './fresh-database.js'

onEachEngine(
  'a database that another tool migrated',
  (database) => {
    const migrator = (files: MigrateOptions['files'], options: Partial<MigrateOptions> = {}) =>
      migrate({ url: database().url, files, ...options })
    /** As that tool would have left it. */
    const migratedTo = async (version: number, dirty = false) => {
      await migrator(tables(2)).up()
      await database().rows('DROP TABLE ashlar_migrations')
      await database().rows(
        'CREATE TABLE schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL)',
      )
      await database().rows(`INSERT INTO schema_migrations VALUES (${version}, ${dirty})`)
    }

    it('is taken over at its version: what is older counts as applied, what is newer runs', async () => {
      await migratedTo(2)
      const progress: Progress[] = []
      const files = tables(2, 3)
      const result = await migrator(files, { onProgress: (event) => progress.push(event) }).up()
      expect(result.applied).to.deep.equal(['0003_t3'])
      expect(progress[0]).to.deep.equal({
        ...{ kind: 'adopted', from: 'schema_migrations', versions: ['0001_framework_init', '0002_t2'] },
      })
      expect(await migrator(files).verify()).to.deep.equal([
        '0001_framework_init was applied by another tool: whether its file was edited is not known',
        '0002_t2 was applied by another tool: whether its file was edited is not known',
      ])
      const kept = await database().rows('SELECT version FROM schema_migrations')
      expect(kept.map(({ version }) => Number(version))).to.deep.equal([2])
    })

    it('is rolled back by the files that were there on first contact', async () => {
      await migratedTo(2)
      await migrator(tables(2)).up()
      expect((await migrator({}).down(1)).rolledBack).to.deep.equal(['0002_t2'])
      expect(await database().tables()).to.deep.equal([...BASELINE, 'schema_migrations'].sort())
    })

    it('may have files that the engine would refuse to run', async () => {
      await migratedTo(2)
      const files = {
        ...file('0002_t2', 'BEGIN; CREATE TABLE t2 (id bigint); COMMIT', 'DROP TABLE t2'),
        ...tables(3),
      }
      expect((await migrator(files).up()).applied).to.deep.equal(['0003_t3'])
      expect(await migrator(files).up()).to.deep.equal({ applied: [], ahead: [] })
    })

    it('is refused while it is dirty', async () => {
      await migratedTo(2, true)
      const failure = await failureOf(migrator(tables(2, 3)).up())
      expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'dirty')
      expect(failure.message).to.match(/schema_migrations says that 0002 is dirty: put it right/)
      expect(await database().tables()).to.not.include('t3')
    })

    it('is refused when it is at a version that the files do not have', async () => {
      await migratedTo(7)
      expect((await failureOf(migrator(tables(2)).up())).message).to.match(
        /is at 0007, which these files do not have/,
      )
    })

    it('is not taken over from a table of other columns, nor from an empty one', async () => {
      await database().rows('CREATE TABLE schema_migrations (version varchar(20) NOT NULL PRIMARY KEY)')
      await database().rows("INSERT INTO schema_migrations VALUES ('2')")
      expect((await migrator(tables(2)).up()).applied).to.deep.equal(['0001_framework_init', '0002_t2'])
      await migrator({}).down(0)
      await database().rows('DROP TABLE schema_migrations')
      await database().rows('CREATE TABLE schema_migrations (version bigint, dirty boolean)')
      expect((await migrator(tables(2)).up()).applied).to.deep.equal(['0001_framework_init', '0002_t2'])
    })
  },
  { empty: true },
)
