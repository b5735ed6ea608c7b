import { expect } from 'chai'
import { migrate, type Progress } from '../../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, problemOf, tables } from '../each-engine.js'
import { hold } from '../fresh-database.js'

onEachEngine('a statement that takes long', (database, dialect) => {
  it('is reported every two seconds, with what the server says of it', async () => {
    await migrate({ url: database().url, files: tables(2) }).up()
    await hold(database(), 't2')
    const seen: Progress[] = []
    let released: Promise<unknown> | undefined
    const onProgress = (event: Progress) => {
      seen.push(event)
      if (event.kind === 'running') released ??= database().rows('COMMIT')
    }
    const files = {
      ...tables(2),
      ...file('0003_c', 'ALTER TABLE t2 ADD COLUMN c bigint', 'ALTER TABLE t2 DROP c'),
    }
    await migrate({ url: database().url, files, lockTimeoutMs: 30_000, onProgress }).up()
    await released
    const running = seen.find((event) => event.kind === 'running')
    expect(running).to.include({ version: '0003_c', number: 1 })
    expect(running).to.have.property('ms').within(1_900, 20_000)
    const said =
      dialect === 'postgres'
        ? /^process \d+ \(unnamed, user \w+, transaction open for \d+ s, idle in transaction\)$/
        : /^connection \d+ \(user \w+ from \S+, transaction open for \d+ s, sleep\)(, probably)?$/
    expect(running).to.have.property('waitsFor').match(said)
  })

  it('that waits too long for a lock names who holds it, and does not ask for another file', async () => {
    await migrate({ url: database().url, files: tables(2) }).up()
    await hold(database(), 't2')
    const files = {
      ...tables(2),
      ...file('0003_c', 'ALTER TABLE t2 ADD COLUMN c bigint', 'ALTER TABLE t2 DROP c'),
    }
    const migrator = migrate({ url: database().url, files, lockTimeoutMs: 1_000 })
    const problem = problemOf(await failureOf(migrator.up()))
    const holder = dialect === 'postgres' ? /^process \d+ \(unnamed, user / : /^connection \d+ \(user /
    expect(problem).to.deep.include({ remains: { kind: 'nothing' }, isBlocked: true })
    expect(problem).to.deep.nested.include({ 'advice.kind': 'lockTimeout', 'advice.ms': 1_000 })
    expect(problem).to.have.nested.property('advice.blockers').match(holder)
    await database().rows('ROLLBACK')
    expect((await migrator.up()).applied).to.deep.equal(['0003_c'])
  })

  if (dialect === 'postgres')
    it('says how far an index is', async () => {
      const slow = {
        ...tables(2),
        ...file(
          '0003_slow',
          'CREATE FUNCTION slow(n bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.01); RETURN n; END $$',
          'DROP FUNCTION slow',
        ),
      }
      await migrate({ url: database().url, files: slow }).up()
      await database().rows('INSERT INTO t2 SELECT generate_series(1, 250)')
      const texts: (string | undefined)[] = []
      const onProgress = (event: Progress) => {
        if (event.kind === 'running') texts.push(event.phase)
      }
      const index = file(
        '0004_i',
        'CREATE INDEX CONCURRENTLY i ON t2 (slow(id))',
        'DROP INDEX CONCURRENTLY i',
      )
      await migrate({ url: database().url, files: { ...slow, ...index }, onProgress }).up()
      expect(texts[0]).to.match(/^(building index|index validation): [\w ]+/)
    })
})
