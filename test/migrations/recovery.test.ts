import { expect } from 'chai'
import { migrate, type MigrateOptions, MigrationError, type Progress } from '../../lib/migrations/index.js'
import { storedText } from '../../lib/migrations/session/step.js'
import { failureOf, file, onEachEngine, problemOf, tables } from './each-engine.js'

onEachEngine('a failed migration', (database, dialect) => {
  const migrator = (files: MigrateOptions['files'], options: Partial<MigrateOptions> = {}) =>
    migrate({ url: database().url, files, ...options })
  const rowOf = async (version: number) => {
    const [row] = await database().rows(`SELECT * FROM ashlar_migrations WHERE version = ${version}`)
    return row && { ...row, dirty: Boolean(row.dirty) }
  }
  /** Wrong in its only statement. */
  const wrong = (number: number, name = `000${number}_t${number}`) =>
    file(name, 'CREATE TABLE t (id nonsense)', '')

  it('is dirty with its error, and the versions before it are applied', async () => {
    const failure = await failureOf(migrator({ ...tables(2), ...wrong(3) }).up())
    expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'failed')
    expect(problemOf(failure)).to.deep.include({
      ...{ kind: 'statementFailed', file: '0003_t3.up.sql', place: { statement: 1, of: 1, line: 1 } },
      ...{ remains: { kind: 'nothing' }, mend: 'file', isThere: false },
    })
    expect(await rowOf(3)).to.include({
      dirty: true,
      statements_done: 0,
      error: storedText(failure as MigrationError),
    })
    expect((await migrator({ ...tables(2), ...wrong(3) }).status()).map(({ state }) => state)).to.deep.equal([
      ...['applied', 'applied', 'dirty', 'applied'],
    ])
  })

  const PLACES: readonly (readonly [
    name: string,
    broken: Record<string, string>,
    fixed: Record<string, string>,
  ])[] = [
    ['the first file', wrong(2), tables(2)],
    ['a file in the middle', { ...tables(2), ...wrong(3), ...tables(4) }, tables(2, 3, 4)],
    ['the last file, with a higher one added to the fix', { ...tables(2), ...wrong(3) }, tables(2, 3, 4)],
    ['the same file under another name', wrong(2, '0002_other'), tables(2)],
    ['a file that ran after 9001', { ...tables(9001), ...wrong(2) }, tables(2, 9001)],
  ]
  for (const [name, broken, fixed] of PLACES)
    it(`recovers when the next run has ${name} corrected`, async () => {
      await failureOf(migrator(broken).up())
      await migrator(fixed).up()
      const made = Object.keys(fixed).flatMap((path) => /_(t\d+)\.up/.exec(path)?.[1] ?? [])
      expect(await database().tables()).to.include.members(made)
      expect(await migrator(fixed).verify()).to.deep.equal([])
    })

  it('fails again when nothing was corrected', async () => {
    const first = await failureOf(migrator(wrong(2)).up())
    expect((await failureOf(migrator(wrong(2)).up())).message).to.equal(first.message)
  })

  it('does not hide a table that was there before', async () => {
    await database().rows('CREATE TABLE t2 (other text)')
    for (let run = 0; run < 2; run++)
      expect((await failureOf(migrator(tables(2)).up())).message).to.match(/t2.* already exists/)
  })

  it('says that it runs the version again', async () => {
    await failureOf(migrator(wrong(2)).up())
    const progress: Progress[] = []
    await migrator(tables(2), { onProgress: (event) => progress.push(event) }).up()
    const how = {
      postgres: { kind: 'beginsAgain', end: 'failed' },
      mysql: { kind: 'goesOnWith', end: 'failed', done: 0, of: 1, mayBeDone: false, isLast: false },
    }
    expect(progress).to.deep.include({ kind: 'recovering', version: '0002_t2', how: how[dialect] })
  })

  if (dialect === 'mysql')
    it('goes on behind the last statement where the one that failed was taken out', async () => {
      const up = 'CREATE TABLE t2 (id bigint)'
      await failureOf(migrator(file('0002_t2', `${up}; nonsense`, 'DROP TABLE t2')).up())
      const progress: Progress[] = []
      const onProgress = (event: Progress) => progress.push(event)
      await migrator(file('0002_t2', up, 'DROP TABLE t2'), { onProgress }).up()
      const how = { kind: 'goesOnWith', end: 'failed', done: 1, of: 1, mayBeDone: false, isLast: false }
      expect(progress).to.deep.include({ kind: 'recovering', version: '0002_t2', how })
    })

  it('is left alone by an image that does not have its file, which says that it is dirty and not newer', async () => {
    await failureOf(migrator({ ...tables(2), ...wrong(3) }).up())
    expect(await migrator(tables(2)).up()).to.deep.equal({ applied: [], ahead: [], dirty: ['0003_t3'] })
    expect(await migrator(tables(2, 9001)).up()).to.deep.equal({
      ...{ applied: ['9001_t9001'], ahead: [], dirty: ['0003_t3'] },
    })
    await migrator(tables(2, 9001)).down(2)
    await failureOf(migrator({ ...tables(2), ...wrong(3) }).up())
    expect((await migrator(tables(2)).down(2)).rolledBack).to.deep.equal(['0003_t3'])
    expect(await rowOf(3)).to.equal(undefined)
  })

  it('asks for other rows, and not for another file, where rows break it', async () => {
    await migrator(tables(2)).up()
    await database().rows('ALTER TABLE t2 ADD COLUMN n int')
    await database().rows('INSERT INTO t2 (id, n) VALUES (1, 1), (2, 1)')
    const files = { ...tables(2), ...file('0003_u', 'ALTER TABLE t2 ADD CONSTRAINT u UNIQUE (n)', '-- no') }
    const unique = problemOf(await failureOf(migrator(files).up()))
    expect(unique).to.include({ mend: 'rows' })
    expect(unique)
      .to.have.nested.property('rows.find')
      .that.matches(/^SELECT n, count\(\*\) FROM t2 /)
    await database().rows('UPDATE t2 SET n = id')
    expect((await migrator(files).up()).applied).to.deep.equal(['0003_u'])
    const written = { ...files, ...file('0004_w', 'INSERT INTO t2 (id, n) VALUES (3, 1)', '-- no') }
    expect(problemOf(await failureOf(migrator(written).up()))).to.deep.include({
      ...{ mend: 'rows', rows: { mayBeFile: true } },
    })
  })

  const changed = dialect === 'postgres' ? 'ALTER COLUMN a TYPE' : 'MODIFY a'
  const required = dialect === 'postgres' ? 'ALTER COLUMN n SET NOT NULL' : 'MODIFY n int NOT NULL'
  const where = dialect === 'postgres' ? ' WHERE a IS NOT NULL' : ''
  for (const sql of [
    `CREATE UNIQUE INDEX u ON r (a DESC, m)${where}`,
    'ALTER TABLE r ADD CONSTRAINT u UNIQUE (a, m)',
    'ALTER TABLE r ADD COLUMN more int, ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES t2 (id)',
    'ALTER TABLE r ADD CONSTRAINT c CHECK (m > 0)',
    `ALTER TABLE r ${required}`,
    `ALTER TABLE r ${changed} varchar(3)`,
    ...(dialect === 'postgres'
      ? [
          'CREATE UNIQUE INDEX CONCURRENTLY u ON r (lower(a))',
          'ALTER TABLE r ADD CONSTRAINT c CHECK (m > 0) NOT VALID; ALTER TABLE r VALIDATE CONSTRAINT c',
        ]
      : ['ALTER TABLE r ADD UNIQUE KEY u (a(2))']),
  ])
    it(`says which query finds the rows that break ${sql}`, async () => {
      const made = 'CREATE TABLE r (id bigint PRIMARY KEY, a varchar(9), n int, m int, p bigint)'
      const files = { ...tables(2), ...file('0003_r', made, 'DROP TABLE r') }
      await migrator(files).up()
      await database().rows(
        "INSERT INTO r VALUES (1, 'same', 1, 0, NULL), (2, 'same', NULL, 0, 7), (3, 'b', 1, 1, NULL), (4, NULL, 1, 1, NULL), (5, NULL, 1, 1, NULL)",
      )
      const failure = await failureOf(migrator({ ...files, ...file('0004_x', sql, '-- no') }).up())
      expect(failure.message).to.not.include('same')
      const { find: query = '' } = problemOf(failure)?.['rows'] as { readonly find?: string }
      const found = await database().rows(query)
      expect(found, query).to.have.length.within(1, 2)
      expect(
        found.every((row) => row.a !== 'b'),
        query,
      ).to.equal(true)
    })

  it('can be rolled back when nothing of it stays', async () => {
    await failureOf(migrator({ ...tables(2), ...wrong(3) }).up())
    expect((await migrator({}).down(1)).rolledBack).to.deep.equal(['0003_t3', '0002_t2'])
    expect(await database().tables()).to.not.include('t2')
  })

  it('in the down migration is dirty, and the version still applied: the next up migration finds it so', async () => {
    const files = { ...tables(2), '0002_t2.down.sql': 'DROP TABLE not_there' }
    await migrator(files).up()
    const failure = await failureOf(migrator(files).down(1))
    expect(problemOf(failure)).to.deep.include({
      ...{ file: '0002_t2.down.sql', place: { statement: 1, of: 1, line: 1 } },
    })
    expect(await rowOf(2)).to.include({ dirty: true, statements_done: -1 })
    const [, dirty] = await migrator(files).status()
    const error = storedText(failure as MigrationError)
    expect(dirty).to.include({ state: 'dirty', error })
    const unfinished = dirty?.unfinished
    expect(unfinished).to.include({ direction: 'down', done: 0, staysApplied: true })
    expect(await migrator(files).verify()).to.deep.equal([
      { kind: 'dirty', version: '0002_t2', error, unfinished, isOfTheseFiles: false },
    ])
    const [cleared, next] = await migrator({ ...tables(2), ...tables(3) }).plan()
    expect(cleared).to.deep.include({ name: '0002_t2', statements: [] })
    expect(cleared?.rollBack).to.include({ staysApplied: true })
    expect(next).to.deep.include({ name: '0003_t3', rollBack: undefined })
    const progress: Progress[] = []
    const onProgress = (event: Progress) => progress.push(event)
    expect(await migrator({ ...tables(2), ...tables(3) }, { onProgress }).up()).to.deep.equal({
      applied: ['0003_t3'],
      ahead: [],
    })
    expect(progress).to.deep.include({
      ...{ kind: 'recovering', version: '0002_t2', how: { kind: 'clearsMark' } },
    })
    expect(await database().tables()).to.include.members(['t2', 't3'])
    expect(await migrator(tables(2, 3)).verify()).to.deep.equal([])
  })

  it('in the down migration is rolled back by the corrected file', async () => {
    const files = { ...tables(2), '0002_t2.down.sql': 'DROP TABLE not_there' }
    await migrator(files).up()
    await failureOf(migrator(files).down(1))
    expect((await migrator(tables(2)).down(1)).rolledBack).to.deep.equal(['0002_t2'])
    expect(await database().tables()).to.not.include('t2')
    expect((await migrator(tables(2)).up()).applied).to.deep.equal(['0002_t2'])
  })

  it('after a cut-off down migration is refused when its file was edited meanwhile', async () => {
    const files = { ...tables(2), '0002_t2.down.sql': 'DROP TABLE not_there' }
    await migrator(files).up()
    await failureOf(migrator(files).down(1))
    const edited = { ...files, '0002_t2.up.sql': 'CREATE TABLE t2 (id text)' }
    expect(await failureOf(migrator(edited).up())).to.have.property('stop', 'edited')
  })

  const SEVERAL = {
    ...file(
      '0002_a',
      'CREATE TABLE a (id bigint);\nCREATE TABLE b (id bigint);\nCREATE TABLE c (id nonsense)',
      'DROP TABLE c; DROP TABLE b; DROP TABLE a',
    ),
  }

  if (dialect === 'postgres')
    it('keeps nothing of a file of which the third statement failed', async () => {
      await failureOf(migrator(SEVERAL).up())
      expect(await database().tables()).to.not.include.members(['a', 'b'])
      expect(await rowOf(2)).to.include({ dirty: true, statements_done: 0 })
    })

  if (dialect === 'postgres')
    it('at its COMMIT says so', async () => {
      const sql =
        'CREATE TABLE a (id bigint PRIMARY KEY, b bigint REFERENCES a DEFERRABLE INITIALLY DEFERRED); INSERT INTO a VALUES (1, 2)'
      const failure = await failureOf(migrator(file('0002_a', sql, '')).up())
      expect(problemOf(failure)).to.include({ file: '0002_a.up.sql', place: undefined, sqlState: '23503' })
      expect(await rowOf(2)).to.include({ dirty: true })
    })

  if (dialect === 'mysql') {
    it('remembers how many statements are done, and goes on behind them', async () => {
      const failure = await failureOf(migrator(SEVERAL).up())
      expect(problemOf(failure)).to.deep.include({
        ...{
          place: { statement: 3, of: 3, line: 3 },
          remains: { kind: 'statements', done: 2 },
          mend: 'file',
        },
      })
      expect(await rowOf(2)).to.include({ dirty: true, statements_done: 2 })
      const sql = SEVERAL['0002_a.up.sql']?.replace('nonsense', 'bigint') ?? ''
      await migrator({ ...SEVERAL, '0002_a.up.sql': sql }).up()
      expect(await database().tables()).to.include.members(['a', 'b', 'c'])
      expect(await rowOf(2)).to.include({ dirty: false, statements_done: 3, up_sql: sql })
    })

    it('refuses a correction of what is done already', async () => {
      await failureOf(migrator(SEVERAL).up())
      const sql = 'CREATE TABLE a (id text);\nCREATE TABLE b (id bigint);\nCREATE TABLE c (id bigint)'
      const failure = await failureOf(migrator({ ...SEVERAL, '0002_a.up.sql': sql }).up())
      expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'dirty')
      expect(problemOf(failure)).to.include({ kind: 'beginningEdited', direction: 'up', done: 2, edited: 1 })
      expect(await rowOf(2)).to.include({ statements_done: 2, up_sql: SEVERAL['0002_a.up.sql'] })
    })

    it('is not rolled back while it is half done', async () => {
      await failureOf(migrator(SEVERAL).up())
      const failure = await failureOf(migrator(SEVERAL).down(1))
      expect(problemOf(failure)).to.deep.equal({
        ...{ kind: 'halfDone', version: '0002_a', number: 2, done: 2, of: 3 },
      })
    })

    it('in the down migration goes on behind what is done, up or down', async () => {
      const files = file(
        '0002_a',
        'CREATE TABLE a (id bigint); CREATE TABLE b (id bigint)',
        'DROP TABLE b; DROP TABLE c',
      )
      const fixed = { ...files, '0002_a.down.sql': 'DROP TABLE b; DROP TABLE a' }
      for (const next of ['up', 'down'] as const) {
        await migrator(files).up()
        await failureOf(migrator(files).down(1))
        expect(await rowOf(2)).to.include({ dirty: true, statements_done: -2 })
        expect(await database().tables())
          .to.include('a')
          .and.not.include('b')
        if (next === 'up') expect((await migrator(fixed).up()).applied).to.deep.equal(['0002_a'])
        else expect((await migrator(fixed).down(1)).rolledBack).to.deep.equal(['0002_a'])
        const present = next === 'up' ? ['a', 'b'] : []
        expect((await database().tables()).filter((table) => ['a', 'b'].includes(table))).to.deep.equal(
          present,
        )
        await migrator(fixed).down(1)
      }
    })

    it('in the down migration plans what finishes it, and what that loses', async () => {
      const files = file(
        '0002_a',
        'CREATE TABLE a (id bigint);\nCREATE TABLE b (id bigint)',
        'DROP TABLE b;\nINSERT INTO nowhere VALUES (1);\nDROP TABLE a',
      )
      await migrator(files).up()
      const failure = await failureOf(migrator(files).down(1))
      const [, dirty] = await migrator(files).status()
      const unfinished = {
        ...{ direction: 'down', done: 1, of: 3, staysApplied: false, isUnknown: false, isReported: true },
      }
      expect(dirty?.unfinished).to.deep.equal(unfinished)
      const error = storedText(failure as MigrationError)
      expect(await migrator(files).verify()).to.deep.equal([
        { kind: 'dirty', version: '0002_a', error, unfinished, isOfTheseFiles: true },
      ])
      const [planned] = await migrator(files).plan()
      expect(planned?.rollBack).to.include({ staysApplied: false, isUnknown: false, done: 1, of: 3 })
      expect(planned?.rollBack?.statements.map(({ line, loses }) => [line, loses[0]?.name])).to.deep.equal([
        [2, undefined],
        [3, 'a'],
      ])
      expect(planned?.statements.map(({ text, isNew }) => [text, isNew])).to.deep.equal([
        ['CREATE TABLE a (id bigint)', true],
        ['CREATE TABLE b (id bigint)', true],
      ])
      const edited = { ...files, '0002_a.down.sql': 'DROP TABLE a' }
      expect(await failureOf(migrator(edited).plan())).to.have.property('stop', 'dirty')
    })

    it('keeps rows and the count of statements together', async () => {
      await database().rows('CREATE TABLE counted (id bigint)')
      const sql = (last: string) => `INSERT INTO counted VALUES (1); INSERT INTO counted VALUES (2); ${last}`
      await failureOf(migrator(file('0002_a', sql('INSERT INTO nowhere VALUES (3)'), '')).up())
      await migrator(file('0002_a', sql('INSERT INTO counted VALUES (3)'), '')).up()
      expect(await database().rows('SELECT id FROM counted ORDER BY id')).to.deep.equal(
        [1, 2, 3].map((id) => ({ id })),
      )
    })
  }
})
