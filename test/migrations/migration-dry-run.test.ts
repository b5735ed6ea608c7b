import { expect } from 'chai'
import { migrate, type Progress } from '../../lib/migrations/index.js'
import { file, onEachEngine } from './each-engine.js'
import { limitedUser } from './limited-user.js'

const T = file('0002_t', 'CREATE TABLE t (id bigint PRIMARY KEY, a int NOT NULL)', 'DROP TABLE t')

onEachEngine('a dry run on a copy', (database, dialect) => {
  const slow = dialect === 'postgres' ? 'pg_sleep(1)' : 'sleep(1)'
  const dryRun = (sql: string) =>
    migrate({ url: database().url, files: { ...T, ...file('0003_x', sql, '-- nothing') } }).dryRun()
  beforeEach(async () => {
    await migrate({ url: database().url, files: T }).up()
    await database().rows('INSERT INTO t VALUES (1, 1), (2, 2)')
  })

  it('applies what is missing, and writes no row', async () => {
    const add = dialect === 'postgres' ? '' : ', ALGORITHM=INSTANT'
    const [version, ...more] = await dryRun(`ALTER TABLE t ADD COLUMN b bigint${add}`)
    expect(more).to.deep.equal([])
    expect(version).to.deep.include({ name: '0003_x', rewritten: [] })
    expect(version?.longestReadMs).to.be.a('number')
    expect(version?.locks).to.deep.equal(dialect === 'postgres' ? ['ACCESS EXCLUSIVE on t'] : undefined)
    expect(await database().rows('SELECT id, a, b FROM t ORDER BY id')).to.have.length(2)
    expect(await dryRun(`ALTER TABLE t ADD COLUMN b bigint${add}`)).to.deep.equal([])
  })

  if (dialect === 'mysql')
    it('leaves out what was rewritten without the privilege PROCESS', async () => {
      const { name } = database()
      const user = await limitedUser(database(), [`GRANT ALL ON ${name}.* TO USER`])
      try {
        const files = {
          ...T,
          ...file('0003_x', 'ALTER TABLE t MODIFY a bigint, ALGORITHM=COPY', '-- nothing'),
        }
        const [version] = await migrate({ url: user.url, files }).dryRun()
        expect(version).to.include({ name: '0003_x', isApplied: true, rewritten: undefined })
      } finally {
        await user.drop()
      }
    })

  it('says how long the file of a version ran, as the progress does', async () => {
    const told: number[] = []
    const onProgress = (event: Progress) => (event.kind === 'done' ? void told.push(event.ms) : undefined)
    const files = { ...T, ...file('0003_x', 'CREATE TABLE x (id bigint PRIMARY KEY)', '-- nothing') }
    const tried = await migrate({ url: database().url, files, onProgress }).dryRun()
    expect(tried.map(({ ms }) => ms)).to.deep.equal(told)
  })

  it('sees a table that is rewritten', async () => {
    const sql =
      dialect === 'postgres'
        ? 'ALTER TABLE t ALTER a TYPE bigint'
        : 'ALTER TABLE t MODIFY a bigint, ALGORITHM=COPY'
    const [version] = await dryRun(sql)
    expect(version?.rewritten?.map(({ name }) => name)).to.deep.equal(['t'])
  })

  it('names no lock on a table that the version makes', async () => {
    const [version] = await dryRun(
      'CREATE TABLE w (id bigint PRIMARY KEY, FOREIGN KEY (id) REFERENCES t (id))',
    )
    expect(version?.locks).to.deep.equal(dialect === 'postgres' ? ['SHARE ROW EXCLUSIVE on t'] : undefined)
  })

  if (dialect === 'postgres')
    it('measures how long readers and writers wait', async () => {
      const [exclusive] = await dryRun(`ALTER TABLE t ADD COLUMN b bigint; SELECT ${slow}`)
      expect(exclusive?.longestReadMs).to.be.greaterThan(900)
      expect(exclusive?.longestWriteMs).to.be.greaterThan(900)
      await migrate({ url: database().url, files: T }).down(2)
      const [shared] = await dryRun(`CREATE INDEX i ON t (a); SELECT ${slow}`)
      expect(shared?.longestReadMs).to.be.lessThan(shared?.longestWriteMs ?? 0)
      expect(shared?.longestWriteMs).to.be.greaterThan(900)
      expect(shared?.locks).to.deep.equal(['SHARE on t'])
    })

  it('says what failed after it has told of the versions before it, and leaves no probe behind', async () => {
    const files = {
      ...T,
      ...file('0003_x', 'ALTER TABLE t ADD COLUMN b bigint', '-- nothing'),
      ...file('0004_y', 'ALTER TABLE t ADD COLUMN c nonsense', '-- nothing'),
      ...file('0005_z', 'ALTER TABLE t ADD COLUMN d bigint', '-- nothing'),
    }
    const told: [name: string, isApplied: boolean][] = []
    const failure: unknown = await migrate({ url: database().url, files })
      .dryRun(({ name, isApplied, longestReadMs }) => {
        told.push([name, isApplied])
        expect(longestReadMs).to.be.a('number')
      })
      .catch((error: unknown) => error)
    expect(failure).to.have.property('stop', 'failed')
    expect(told).to.deep.equal([
      ['0003_x', true],
      ['0004_y', false],
    ])
  })

  it('goes on where a version drops the table that is read', async () => {
    const [version] = await dryRun('DROP TABLE t')
    expect(version).to.include({ name: '0003_x' })
    expect(version?.failures.map(({ table, access }) => [table, access])).to.deep.equal([
      ['t', 'read'],
      ['t', 'write'],
    ])
  })
})
