import { expect } from 'chai'
import { migrate, type MigrateOptions, type Progress } from '../../../lib/migrations/index.js'
import { failureOf, file, onEachEngine } from '../each-engine.js'

onEachEngine('a backfill', (database, dialect) => {
  const fill = (set: string, where = '') =>
    dialect === 'postgres'
      ? `-- ashlar:backfill\nUPDATE t SET ${set} WHERE id IN (SELECT id FROM t WHERE b IS NULL${where} LIMIT 1000)`
      : `-- ashlar:backfill\nUPDATE t SET ${set} WHERE b IS NULL${where} LIMIT 1000`
  const files = (sql: string) => ({
    ...file('0002_t', 'CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b int)', 'DROP TABLE t'),
    ...file('0003_fill', sql, '-- nothing to undo'),
  })
  const up = (sql: string, options: Partial<MigrateOptions> = {}) =>
    migrate({ url: database().url, files: files(sql), ...options }).up()
  const rows = async (count: number) => {
    const { '0002_t.up.sql': up2 = '', '0002_t.down.sql': down2 = '' } = files('')
    await migrate({ url: database().url, files: { '0002_t.up.sql': up2, '0002_t.down.sql': down2 } }).up()
    const numbers = Array.from({ length: count }, (_, at) => `(${at}, ${at % 7})`)
    await database().rows(`INSERT INTO t (id, a) VALUES ${numbers.join(', ')}`)
  }
  const left = async () =>
    Number((await database().rows('SELECT count(*) AS n FROM t WHERE b IS NULL'))[0]?.n)

  it('is repeated until it finds no row, and each chunk commits by itself', async () => {
    await rows(2_500)
    const seen: Progress[] = []
    await up(fill('b = a'), { onProgress: (event) => seen.push(event) })
    const chunks = seen.flatMap((event) => (event.kind === 'filled' ? [event.rows] : []))
    expect(chunks).to.deep.equal([1_000, 2_000, 2_500, 2_500])
    const [wrong] = await database().rows('SELECT count(*) AS n FROM t WHERE b IS NULL OR b <> a')
    expect(Number(wrong?.n)).to.equal(0)
  })

  it('keeps what is done when it is cancelled, and the next run does the rest', async () => {
    await rows(3_000)
    const ending = new AbortController()
    const onProgress = (event: Progress) => {
      if (event.kind === 'filled') ending.abort()
    }
    const failure = await failureOf(up(fill('b = a'), { onProgress, signal: ending.signal }))
    expect(failure.message).to.include('The rows that are filled stay')
    expect(await left()).to.equal(2_000)
    expect((await up(fill('b = a'))).applied).to.deep.equal(['0003_fill'])
    expect(await left()).to.equal(0)
  })

  it('is dirty with its error when a row refuses it, and runs again once corrected', async () => {
    await rows(1_200)
    await database().rows(
      dialect === 'postgres'
        ? 'ALTER TABLE t ADD CHECK (b <> 6)'
        : 'ALTER TABLE t ADD CONSTRAINT c CHECK (b <> 6)',
    )
    const failure = await failureOf(up(fill('b = a')))
    expect(failure.message).to.include('0003_fill.up.sql').and.include('correct what it says and run again')
    const states = await migrate({ url: database().url, files: files(fill('b = a')) }).status()
    expect(states.find(({ version }) => version === 3)).to.include({ name: '0003_fill', state: 'dirty' })
    await up(fill('b = 1'))
    expect(await left()).to.equal(0)
    await migrate({ url: database().url, files: files(fill('b = 1')) }).down(1)
    expect(await database().tables()).to.not.include('t')
  })
})
