import { expect } from 'chai'
import {
  migrate,
  type MigrateOptions,
  type MigrationError,
  type Progress,
} from '../../../lib/migrations/index.js'
import type { StatementFailed } from '../../../lib/migrations/messages/statement-failed.js'
import { failureOf, file, onEachEngine, problemOf } from '../each-engine.js'
import { hold, untilRow } from '../fresh-database.js'

const NOTHING = '-- nothing to undo'
const FILL = '-- ashlar:backfill\nUPDATE t SET b = a, writes = writes + 1 WHERE b IS NULL'

onEachEngine('a backfill', (database, dialect) => {
  const text =
    dialect === 'postgres' ? 'text COLLATE "C"' : 'varchar(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
  const table = (key: string) =>
    file(
      '0002_t',
      `CREATE TABLE t (${key}, a int NOT NULL, b int, writes int NOT NULL DEFAULT 0)`,
      'DROP TABLE t',
    )
  const files = (sql: string, key = 'id int PRIMARY KEY') => ({
    ...table(key),
    ...file('0003_fill', sql, 'UPDATE t SET b = NULL WHERE b >= 0'),
  })
  const migrator = (sql: string, options: Partial<MigrateOptions> = {}) =>
    migrate({ url: database().url, files: files(sql), ...options })
  const insert = (columns: string, row: (at: number) => string, count: number) =>
    database().rows(
      `INSERT INTO t (${columns}) VALUES ${Array.from({ length: count }, (_, at) => row(at)).join(', ')}`,
    )
  const rows = async (count: number) => {
    await migrate({ url: database().url, files: table('id int PRIMARY KEY') }).up()
    await insert('id, a', (at) => `(${at}, ${at % 7})`, count)
  }
  const count = async (where: string) =>
    Number((await database().rows(`SELECT count(*) AS n FROM t WHERE ${where}`))[0]?.n)
  /** Transactions that wait for a row. */
  const blocked =
    dialect === 'postgres'
      ? `SELECT xact_start::text AS began FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`
      : `SELECT CAST(trx_id AS char) AS began FROM information_schema.INNODB_TRX
           JOIN information_schema.PROCESSLIST ON id = trx_mysql_thread_id
         WHERE db = DATABASE() AND trx_state = 'LOCK WAIT'`
  const position = () => database().rows('SELECT * FROM ashlar_backfills')
  /** Ends the run after its first chunk of so many rows. */
  const endedAt = (walked: number, sql = FILL) => {
    const ending = new AbortController()
    const onProgress = (event: Progress) => {
      if (event.kind === 'filled' && event.walked >= walked) ending.abort()
    }
    return failureOf(migrator(sql, { onProgress, signal: ending.signal }).up())
  }

  it('goes through its table in chunks of the key, small ones first, and writes each row once', async () => {
    await rows(2_500)
    const seen: Progress[] = []
    const sql = FILL.replace('backfill', 'backfill chunk=500')
    await migrator(sql, { onProgress: (event) => seen.push(event) }).up()
    const chunks = seen.flatMap((event) => (event.kind === 'filled' ? [event] : []))
    expect(chunks[0]).to.include({ chunk: 100, walked: 100, rows: 100 })
    expect(chunks.at(-1)).to.include({ walked: 2_500, rows: 2_500 })
    expect(Math.max(...chunks.map(({ chunk }) => chunk))).to.be.within(1, 500)
    expect(await count('b = a AND writes = 1')).to.equal(2_500)
    expect(await position()).to.deep.equal([])
  })

  it('leaves out the rows of its WHERE, whose OR does not reach beyond a chunk', async () => {
    await rows(300)
    await database().rows('UPDATE t SET b = 0 WHERE id < 150')
    const sql = '-- ashlar:backfill\nUPDATE t AS u SET writes = u.writes + 1 WHERE u.b IS NULL OR u.id = 7'
    await migrator(sql).up()
    expect(await count('writes = 1')).to.equal(151)
    expect(await count('writes > 1')).to.equal(0)
  })

  it('needs no WHERE and counts the rows of the table and those that it writes', async () => {
    await rows(250)
    await migrator('-- ashlar:backfill\nUPDATE t SET writes = writes + 1').up()
    expect(await count('writes = 1')).to.equal(250)
  })

  it('does nothing in an empty table', async () => {
    expect((await migrator(FILL).up()).applied).to.deep.equal(['0002_t', '0003_fill'])
  })

  const KEYS: readonly (readonly [key: string, row: (at: number) => string])[] = [
    [
      `k ${text}, id bigint, PRIMARY KEY (k, id)`,
      (at) => `('it''s \\ ä${at % 3}', ${9007199254740993n + BigInt(at)})`,
    ],
    [`k ${text}, id int, l ${text}, PRIMARY KEY (k, id, l)`, (at) => `('${at % 2}', ${at % 11}, '${at}')`],
    [
      dialect === 'postgres'
        ? 'k bytea, id int, PRIMARY KEY (k, id)'
        : 'k varbinary(9), id int, PRIMARY KEY (k, id)',
      (at) => (dialect === 'postgres' ? `('\\x00ff${at % 10}0', ${at})` : `(X'00ff${at % 10}0', ${at})`),
    ],
    [
      `k ${dialect === 'postgres' ? 'timestamptz' : 'datetime(6)'}, id numeric(30, 3), PRIMARY KEY (k, id)`,
      (at) => `('2024-01-01 00:00:00.00000${at % 10}', -12345678901234567890.${100 + at})`,
    ],
  ]
  for (const [key, row] of KEYS)
    it(`goes through PRIMARY KEY of ${key}`, async () => {
      const made = files(FILL.replace('backfill', 'backfill chunk=7'), key)
      await migrate({ url: database().url, files: table(key) }).up()
      const columns = key
        .split(', ')
        .flatMap((part) => /^(k|id|l) /.exec(part)?.[1] ?? [])
        .join(', ')
      await insert(`${columns}, a`, (at) => row(at).replace(/\)$/, ', 1)'), 500)
      await migrate({ url: database().url, files: made }).up()
      expect(await count('writes = 1')).to.equal(500)
    })

  it('is refused for a table without a primary key', async () => {
    const made = files(FILL, 'id int')
    const failure = await failureOf(migrate({ url: database().url, files: made }).up())
    expect(problemOf(failure)).to.include({ kind: 'backfillWithoutKey', table: 't' })
  })

  for (const set of [
    'id = id + 1000',
    'writes = 1, ID = 7',
    ...(dialect === 'postgres' ? ['(a, id) = (1, 2)'] : ['t.id = 9']),
  ])
    it(`is refused where it moves rows: SET ${set}`, async () => {
      await rows(10)
      const failure = await failureOf(migrator(`-- ashlar:backfill\nUPDATE t SET ${set}`).up())
      expect(problemOf(failure)).to.include({ kind: 'backfillMovesKey', column: 'id' })
      expect(await count('id < 10 AND writes = 0')).to.equal(10)
    })

  it('keeps what is done when it is cancelled, and the next run goes on behind it', async () => {
    await rows(3_000)
    const failure = await endedAt(1_000)
    const done = await count('writes = 1')
    expect(failure).to.have.deep.property('problem', {
      ...{ kind: 'cancelledBetweenChunks', version: '0003_fill', file: '0003_fill.up.sql', written: done },
    })
    expect(done).to.be.within(1_000, 2_999)
    expect(await position()).to.have.length(1)
    const seen: Progress[] = []
    expect(await migrator(FILL, { onProgress: (event) => seen.push(event) }).up()).to.deep.equal({
      ...{ applied: ['0003_fill'], ahead: [] },
      filled: [{ version: '0003_fill', rows: 3_000, earlier: done }],
    })
    const [ended, goesOn] = seen.flatMap((event) => (event.kind === 'recovering' ? [event.how] : []))
    expect(ended).to.deep.equal({ kind: 'resumesChunks', end: 'cancelled' })
    expect(goesOn).to.include({ kind: 'goesOnBehind', rows: done })
    expect(await count('writes = 1')).to.equal(3_000)
    expect(await position()).to.deep.equal([])
  })

  it('begins anew after it was rolled back half way', async () => {
    await rows(2_000)
    await endedAt(500)
    const [rollBack] = await migrator(FILL).rollBacks()
    expect(rollBack?.refills).to.deep.equal({ written: await count('writes = 1') })
    await migrate({ url: database().url, files: files(FILL) }).down(2)
    expect(await count('b IS NULL')).to.equal(2_000)
    await migrator(FILL).up()
    expect(await count('b = a')).to.equal(2_000)
  })

  it('is dirty with its error when a row refuses it, and goes on there once corrected', async () => {
    await rows(1_200)
    await database().rows('ALTER TABLE t ADD CONSTRAINT c CHECK (b <> 6 OR id < 900)')
    const failure = await failureOf(migrator(FILL).up())
    const written = await count('writes = 1')
    const { remains, ...problem } = (failure as MigrationError).problem as unknown as StatementFailed
    const behind = [{ column: 'id', value: String(written - 1) }]
    expect(problem).to.deep.include({ file: '0003_fill.up.sql', mend: 'rows', rows: { mayBeFile: true } })
    expect(remains).to.deep.include({ kind: 'chunk', behind, written })
    const states = await migrator(FILL).status()
    expect(states.find(({ version }) => version === 3)).to.include({ name: '0003_fill', state: 'dirty' })
    await database().rows('UPDATE ashlar_migrations SET error = NULL WHERE version = 3')
    const killed = (await migrator(FILL).status()).find(({ version }) => version === 3)
    expect(killed?.unfinished).to.deep.include({ written, end: [String(written - 1)], isReported: false })
    await migrator(FILL.replace('b = a', 'b = 1')).up()
    expect(await count('writes = 1')).to.equal(1_200)
    expect(await count('b <> a AND id < 100')).to.equal(0)
  })

  it('waits for a row that somebody else holds', async () => {
    await rows(300)
    await database().rows('START TRANSACTION')
    await database().rows('UPDATE t SET a = 100 WHERE id = 150')
    const running = migrator(FILL, { lockTimeoutMs: 500 }).up()
    // Its first try was given up, and it waits again.
    const first = await untilRow(database(), blocked)
    await untilRow(database(), blocked, (row) => row.began !== first.began)
    await database().rows('COMMIT')
    await running
    expect(await count('writes = 1 AND b = a')).to.equal(300)
    expect(await count('b = 100')).to.equal(1)
  })

  if (dialect === 'postgres')
    it('fails after a while when the lock stays', async () => {
      await rows(10)
      await migrator(FILL.replace('b IS NULL', 'a < 0')).up()
      await migrator(FILL).down(2)
      await hold(database(), 't')
      await database().rows('UPDATE t SET a = 100 WHERE id = 5')
      const failure = await failureOf(migrator(FILL, { lockTimeoutMs: 1 }).up())
      await database().rows('ROLLBACK')
      expect(problemOf(failure)).to.have.nested.property('advice.kind', 'lockTimeout')
      await migrator(FILL).up()
      expect(await count('writes = 1')).to.equal(10)
    })

  it('has a down migration like any other file', async () => {
    await rows(10)
    await migrator(FILL).up()
    await migrate({ url: database().url, files: { ...files(FILL), '0003_fill.down.sql': NOTHING } }).down(1)
    expect(await database().tables()).to.not.include('t')
  })
})
