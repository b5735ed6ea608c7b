import { expect } from 'chai'
import { migrate, type MigrateOptions, type Resolution } from '../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, problemOf, tables } from './each-engine.js'

onEachEngine('a correction by hand', (database) => {
  const migrator = (files: MigrateOptions['files']) => migrate({ url: database().url, files })
  const states = async (files: MigrateOptions['files']) =>
    Object.fromEntries((await migrator(files).status()).map(({ version, state }) => [version, state]))
  const wrong = file('0003_t3', 'CREATE TABLE t3 (id nonsense)', 'DROP TABLE t3')

  it('applies versions up to one, and the rest later', async () => {
    const files = { ...tables(2, 3, 4), ...tables(9001) }
    expect((await migrator(files).up(3)).applied).to.deep.equal(['0002_t2', '0003_t3'])
    expect(await migrator(files).up(3)).to.deep.equal({ applied: [], ahead: [] })
    expect((await migrator(files).up()).applied).to.deep.equal(['0004_t4', '9001_t9001'])
    expect(await failureOf(migrator(files).up(5))).to.be.instanceOf(RangeError)
  })

  it('takes no table of the application for one of the framework', async () => {
    await migrator({}).down(0)
    await database().rows('CREATE TABLE outbox (id bigint PRIMARY KEY, mail varchar(9))')
    await database().rows('DROP TABLE ashlar_migrations')
    const failure = await failureOf(migrator(tables(2)).baseline(2))
    expect(failure).to.have.property('stop', 'foreign')
    expect(failure).to.have.nested.property('problem.kind', 'namesakes')
    expect(failure).to.include({ hasChanged: false })
    const [outbox] = problemOf(failure)?.['tables'] as { table: string; lacks: readonly string[] }[]
    expect(outbox?.table).to.equal('outbox')
    expect(outbox?.lacks).to.include.members(['account_id', 'event_epoch'])
    expect(await database().tables()).to.deep.equal(['outbox'])
    await database().rows('DROP TABLE outbox')
    expect((await migrator(tables(2)).baseline(2)).applied).to.deep.equal(['0001_framework_init'])
  })

  it('leaves an upgrade of its own tables that the database lacks to the next run', async () => {
    await migrator({}).down(0)
    await database().rows('CREATE TABLE t2 (id bigint PRIMARY KEY)')
    await database().rows('CREATE TABLE t9001 (id bigint PRIMARY KEY)')
    const files = { ...tables(2), ...tables(9001) }
    expect(await migrator(files).baseline(9001)).to.deep.equal({
      applied: ['0001_framework_init'],
      recorded: ['0002_t2', '9001_t9001'],
    })
    expect((await migrator(files).up()).applied).to.deep.equal(['8001_outbox_log'])
    expect(await database().tables()).to.include('outbox_leases')
  })

  it('rolls back the last applied version, which need not have the highest number', async () => {
    await migrator({ ...tables(2), ...tables(9001) }).up()
    const files = { ...tables(2, 3), ...tables(9001) }
    await migrator(files).up()
    expect((await migrator(files).down()).rolledBack).to.deep.equal(['0003_t3'])
    expect((await migrator(files).down()).rolledBack).to.deep.equal(['9001_t9001'])
    expect((await migrator(files).down()).rolledBack).to.deep.equal(['0002_t2'])
    expect((await migrator(files).down()).rolledBack).to.deep.equal([])
    expect(await states({})).to.deep.equal({ 1: 'applied', 8001: 'applied' })
  })

  it('says what a down migration loses', async () => {
    const files = {
      ...tables(2),
      ...file('0003_c', 'ALTER TABLE t2 ADD c int', 'ALTER TABLE t2 DROP COLUMN c; DELETE FROM t2'),
      ...file('0004_i', 'CREATE TABLE other (id bigint PRIMARY KEY)', 'SELECT 1'),
    }
    await migrator(files).up()
    const found = await migrator(files).rollBacks(1)
    expect(found.map(({ name, loses }) => [name, loses.map(({ size, ...lost }) => lost)])).to.deep.equal([
      ['0004_i', []],
      [
        '0003_c',
        [
          { what: 'column', name: 'c', table: 't2' },
          { what: 'rows', name: 't2', table: 't2' },
        ],
      ],
      ['0002_t2', [{ what: 'table', name: 't2', table: 't2' }]],
    ])
    expect(found.at(-1)?.loses[0]?.size?.bytes).to.be.a('number')
    expect(await migrator(files).rollBacks()).to.have.length(1)
    expect(await states(files)).to.include({ 2: 'applied', 3: 'applied' })
  })

  it('says that nothing is lost of a version that failed and left nothing behind', async () => {
    await failureOf(migrator({ ...tables(2), ...wrong }).up())
    expect(await migrator({}).rollBacks()).to.deep.equal([
      {
        version: 3,
        name: '0003_t3',
        isFramework: false,
        loses: [],
        staysLost: [],
        staysDone: undefined,
        mayLeaveContract: false,
        appliedBefore: [],
        refills: undefined,
      },
    ])
    expect((await migrator({}).down()).rolledBack).to.deep.equal(['0003_t3'])
  })

  it('applies the last version again, as its file is now', async () => {
    await migrator(tables(2, 3)).up()
    const files = {
      ...tables(2),
      ...file('0003_t3', 'CREATE TABLE u3 (id bigint PRIMARY KEY)', 'DROP TABLE u3'),
    }
    const result = await migrator(files).redo()
    expect([result.rolledBack, result.applied]).to.deep.equal([['0003_t3'], ['0003_t3']])
    expect(await database().tables())
      .to.include('u3')
      .and.not.include('t3')
    expect(problemOf(await failureOf(migrator(tables(2)).redo()))).to.deep.equal({
      ...{ kind: 'notOfTheseFiles', version: '0003_t3' },
    })
    expect(await states(files)).to.include({ 3: 'applied' })
  })

  it('records versions that were made by hand as a baseline, once', async () => {
    await database().rows('CREATE TABLE t2 (id bigint PRIMARY KEY)')
    const files = tables(2, 3, 4)
    expect(await failureOf(migrator(files).baseline(7))).to.be.instanceOf(RangeError)
    const before = (await migrator(files).status())[0]
    expect(before).to.include({ version: 1, state: 'applied' })
    expect(await migrator(files).baseline(2)).to.deep.equal({ applied: [], recorded: ['0002_t2'] })
    expect((await migrator(files).status())[0]).to.deep.equal(before)
    expect(await states(files)).to.include({ 2: 'applied', 3: 'pending' })
    expect((await migrator(files).up()).applied).to.deep.equal(['0003_t3', '0004_t4'])
    const failure = await failureOf(migrator(files).baseline(4))
    expect(problemOf(failure)).to.deep.equal({
      kind: 'baselineOfVersions',
      versions: [
        { version: '0002_t2', standing: 'recorded' },
        { version: '0003_t3', standing: 'applied' },
        { version: '0004_t4', standing: 'applied' },
      ],
    })
    expect((await migrator(files).down(1)).rolledBack).to.deep.equal(['0004_t4', '0003_t3', '0002_t2'])
  })

  it('records a dirty version as applied, in its place', async () => {
    await failureOf(migrator({ ...tables(2), ...wrong, ...tables(4) }).up())
    await database().rows('CREATE TABLE t3 (id bigint PRIMARY KEY)')
    await migrator(tables(2, 3, 4)).resolve(3, 'applied')
    expect(await states(tables(2, 3, 4))).to.include({ 3: 'applied', 4: 'pending' })
    expect((await migrator(tables(2, 3, 4)).up()).applied).to.deep.equal(['0004_t4'])
    expect((await migrator(tables(2, 3, 4)).down(2)).rolledBack).to.deep.equal(['0004_t4', '0003_t3'])
  })

  it('records a dirty version whose file is not there as applied', async () => {
    await failureOf(migrator({ ...tables(2), ...wrong }).up())
    await migrator(tables(2)).resolve(3, 'applied')
    expect(await states(tables(2))).to.include({ 3: 'ahead' })
  })

  it('forgets a dirty version of which nothing is left, and applies it again', async () => {
    await failureOf(migrator({ ...tables(2), ...wrong }).up())
    await migrator({ ...tables(2), ...wrong }).resolve(3, 'rolledBack')
    expect(await states(tables(2, 3))).to.include({ 3: 'pending' })
    expect((await migrator(tables(2, 3)).up()).applied).to.deep.equal(['0003_t3'])
  })

  it('records a version that was never run and is done by hand', async () => {
    await migrator(tables(2)).up()
    await database().rows('CREATE TABLE t3 (id bigint PRIMARY KEY)')
    await migrator(tables(2, 3)).resolve(3, 'applied')
    expect(await migrator(tables(2, 3)).up()).to.deep.equal({ applied: [], ahead: [] })
  })

  it('resolves nothing that needs no resolution', async () => {
    await migrator(tables(2)).up()
    const refused = async (files: MigrateOptions['files'], version: number, as: Resolution) =>
      expect(await failureOf(migrator(files).resolve(version, as))).to.have.nested.property('problem.kind')
    ;(await refused(tables(2), 2, 'rolledBack')).that.equals('appliedAlready')
    ;(await refused(tables(2), 2, 'applied')).that.equals('appliedAlready')
    ;(await refused(tables(2, 3), 3, 'rolledBack')).that.equals('nothingToResolve')
    expect(await failureOf(migrator(tables(2)).resolve(9, 'applied'))).to.be.instanceOf(RangeError)
  })

  it('accepts an edited file, whose order and time of application stay', async () => {
    await migrator(tables(2, 3)).up()
    const edit = {
      ...tables(2, 3),
      '0002_t2.up.sql': '-- with a remark\nCREATE TABLE t2 (id bigint PRIMARY KEY)',
    }
    expect(await migrator(tables(2, 3)).edited()).to.deep.equal([])
    expect(await migrator(edit).edited()).to.deep.equal([
      { name: '0002_t2', applied: tables(2)['0002_t2.up.sql'], now: edit['0002_t2.up.sql'] },
    ])
    const when = 'SELECT applied_at FROM ashlar_migrations WHERE version = 2'
    const before = await database().rows(when)
    expect(await migrator(edit).repair()).to.have.length(1)
    expect(await database().rows(when)).to.deep.equal(before)
    expect(await migrator(edit).up()).to.deep.equal({ applied: [], ahead: [] })
    expect(await migrator(edit).verify()).to.deep.equal([])
  })
})
