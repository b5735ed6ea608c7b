import { expect } from 'chai'
import {
  migrate,
  type MigrateOptions,
  type MigrationError,
  type Progress,
} from '../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, problemOf, tables } from './each-engine.js'

onEachEngine('a version that failed and is given up', (database, dialect) => {
  const migrator = (files: MigrateOptions['files'], options: Partial<MigrateOptions> = {}) =>
    migrate({ url: database().url, files, ...options })
  const stateOf = async (files: MigrateOptions['files'], version: number) => {
    const found = (await migrator(files).status()).find((one) => one.version === version)
    const { direction, done, of, onDown } = found?.unfinished ?? {}
    return { state: found?.state, direction, done, of, onDown }
  }
  /** As a run leaves it whose process was killed before its statement. */
  const loseReport = (version: number) =>
    database().rows(
      `UPDATE ashlar_migrations SET dirty = true, statements_done = 0, error = NULL WHERE version = ${version}`,
    )

  it('says that nothing of it is done, and forgets it', async () => {
    const files = file('0002_a', 'CREATE TABLE a (id nonsense)', 'DROP TABLE a')
    await failureOf(migrator(files).up())
    expect(await stateOf(files, 2)).to.include({ state: 'dirty', direction: 'up', done: 0 })
    await migrator(files).down()
    expect(await stateOf(files, 2)).to.include({ state: 'pending' })
  })

  it('is a backfill that stays unfinished where its down migration fails', async () => {
    const fill = '-- ashlar:backfill\nUPDATE t SET n = id'
    const create = 'CREATE TABLE t (id bigint PRIMARY KEY, n bigint, CHECK (n < 250))'
    const files = { ...file('0002_t', create, 'DROP TABLE t'), ...file('0003_fill', fill, 'DROP TABLE gone') }
    await migrator(files).up(2)
    await database().rows('INSERT INTO t (id) VALUES (1), (300)')
    await failureOf(migrator(files).up())
    const failure = await failureOf(migrator(files).down())
    expect(problemOf(failure)).to.deep.include({ file: '0003_fill.down.sql', direction: 'down' })
    expect(await stateOf(files, 3)).to.include({ state: 'dirty', direction: 'up' })
    await database().rows('DELETE FROM t WHERE id = 300')
    expect((await migrator(files).up()).applied).to.deep.equal(['0003_fill'])
    expect((await database().rows('SELECT n FROM t')).map(({ n }) => Number(n))).to.deep.equal([1])
  })

  if (dialect === 'mysql') {
    it('of which a statement is done is refused, and says so before', async () => {
      const files = file(
        '0002_a',
        'CREATE TABLE a (id bigint);\nCREATE TABLE b (id nonsense)',
        'DROP TABLE a',
      )
      await failureOf(migrator(files).up())
      const failure = await failureOf(migrator(files).down())
      const { done, of, onDown } = await stateOf(files, 2)
      expect([done, of]).to.deep.equal([1, 2])
      expect(onDown).to.deep.equal({ kind: 'refuses', problem: (failure as MigrationError).problem })
      expect(await database().tables()).to.include('a')
    })

    it('is not taken for applied where its down migration fails because nothing was done', async () => {
      const files = {
        ...tables(2),
        ...file('0003_other', 'RENAME TABLE t2 TO other', 'RENAME TABLE other TO t2'),
      }
      await migrator(files).up(2)
      await migrator(files).up()
      await database().rows('RENAME TABLE other TO t2')
      await loseReport(3)
      expect((await stateOf(files, 3)).onDown).to.deep.equal({ kind: 'mayBeDone' })
      const failure = await failureOf(migrator(files).down())
      expect(failure).to.have.deep.nested.property('problem.remains', { kind: 'mayBeDone', statement: 1 })
      expect(await stateOf(files, 3)).to.include({ state: 'dirty', direction: 'up' })
      expect((await migrator(files).up()).applied).to.deep.equal(['0003_other'])
      expect(await database().tables())
        .to.include('other')
        .and.not.include('t2')
    })

    it('is not taken for undone where it is run again and fails because it is done', async () => {
      const files = {
        ...tables(2),
        ...file('0003_other', 'RENAME TABLE t2 TO other', 'RENAME TABLE other TO t2'),
      }
      await migrator(files).up()
      await loseReport(3)
      const failure = await failureOf(migrator(files).up())
      expect(failure).to.have.deep.nested.property('problem.remains', { kind: 'mayBeDone', statement: 1 })
      const progress: Progress[] = []
      await failureOf(migrator(files, { onProgress: (event) => progress.push(event) }).up())
      const how = { kind: 'goesOnWith', end: 'failed', done: 0, of: 1, mayBeDone: true, isLast: false }
      expect(progress).to.deep.include({ kind: 'recovering', version: '0003_other', how })
      expect((await migrator(files).down()).rolledBack).to.deep.equal(['0003_other'])
      expect(await database().tables())
        .to.include('t2')
        .and.not.include('other')
    })

    it('is not undone where it wrote rows: they are done together with their record', async () => {
      const files = {
        ...file('0002_n', 'CREATE TABLE n (n int)', 'DROP TABLE n'),
        ...file('0003_more', 'UPDATE n SET n = n + 1', 'UPDATE n SET n = n - 1'),
      }
      await migrator(files).up()
      await database().rows('INSERT INTO n VALUES (1)')
      await loseReport(3)
      expect((await migrator(files).down()).rolledBack).to.deep.equal(['0003_more'])
      expect((await database().rows('SELECT n FROM n')).map(({ n }) => Number(n))).to.deep.equal([1])
    })
  } else
    it('leaves an unusable index, which the down migration drops', async () => {
      const files = {
        ...file('0002_t', 'CREATE TABLE t (n int)', 'DROP TABLE t'),
        ...file('0003_i', 'CREATE UNIQUE INDEX CONCURRENTLY i ON t (n)', 'DROP INDEX CONCURRENTLY i'),
      }
      await migrator(files).up(2)
      await database().rows('INSERT INTO t VALUES (1), (1)')
      const failure = await failureOf(migrator(files).up())
      expect(failure).to.have.deep.nested.property('problem.remains', { kind: 'index' })
      expect((await stateOf(files, 3)).onDown).to.deep.equal({ kind: 'dropsIndex' })
      const invalid = () => database().rows(`SELECT 1 FROM pg_class WHERE relname = 'i'`)
      expect(await invalid()).to.have.length(1)
      await migrator(files).down()
      expect(await invalid()).to.have.length(0)
      expect(await stateOf(files, 3)).to.include({ state: 'pending' })
    })
})
