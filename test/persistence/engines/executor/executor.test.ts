import { expect } from 'chai'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { Aborted, Cancelled, DeadlineExceeded, Unavailable } from '../../../../lib/errors.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import type { Database, Lease } from '../../../../lib/persistence/engines/executor/executor.js'
import type { DialectName } from '../../../../lib/persistence/dialects/dialect.js'
import { databases, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import { HOSTILE } from '../../../support/databases/pooled-database.js'
import { rejection } from '../../../support/rejection.js'
import { serviceUrl } from '../../../support/running/services.js'
import { column, run, statement } from '../../../support/databases/statement.js'
import { testDatabase } from '../../../support/databases/test-database.js'

const TABLE: Readonly<Record<DialectName, string>> = {
  sqlite:
    'id INTEGER PRIMARY KEY, name TEXT UNIQUE, raw BLOB, big INTEGER, ratio REAL, at TEXT, flag INTEGER',
  postgres:
    'id int PRIMARY KEY, name text UNIQUE, raw bytea, big bigint, ratio double precision, at timestamptz(6), flag boolean',
  mysql:
    'id int PRIMARY KEY, name varchar(99) UNIQUE, raw blob, big bigint, ratio double, at datetime(6), flag boolean',
  mariadb:
    'id int PRIMARY KEY, name varchar(99) UNIQUE, raw blob, big bigint, ratio double, at datetime(6), flag boolean',
}

const SLEEP: Readonly<Record<DialectName, string>> = {
  sqlite: 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) AS n FROM r',
  postgres: 'SELECT pg_sleep(60)',
  mysql: 'SELECT SLEEP(60)',
  mariadb: 'SELECT SLEEP(60)',
}

describeOn('executorOf', databases, ({ name, open }) => {
  let backend: OpenBackend
  let database: Database
  const isServer = name === 'postgres' || name === 'mariadb' || name === 'mysql8'

  before(async () => {
    backend = await open([])
    database = backend.database!
    await run(database, `CREATE TABLE stone (${TABLE[database.dialect.name]})`)
  })
  beforeEach(() => run(database, 'DELETE FROM stone'))
  after(() => backend?.close())

  it('is the same for the same DataSource', () => {
    expect(executorOf(backend.dataSource!)).to.equal(database)
    expect(database.dataSource).to.equal(backend.dataSource)
  })

  it('names the dialect', () => {
    const dialects = {
      sqlite: 'sqlite',
      'better-sqlite3': 'sqlite',
      postgres: 'postgres',
      mariadb: 'mariadb',
      mysql8: 'mysql',
    }
    expect(database.dialect.name).to.equal(dialects[name as keyof typeof dialects])
  })

  it('returns rows by position, as the comment of Row says', async () => {
    const at = '2024-02-29 23:59:59.123456'
    const values = [1, 'Gräfin 🏰', Buffer.from([0, 200]), '9007199254740993', 0.1 + 0.2, at, true]
    await run(database, 'INSERT INTO stone VALUES (?, ?, ?, ?, ?, ?, ?)', values)
    const big = database.dialect.name === 'sqlite' ? 'CAST(big AS TEXT) AS big' : 'big'
    const [asRaw, asRatio] = name === 'postgres' ? ["encode(raw, 'hex')", 'ratio::numeric'] : ['raw', 'ratio']
    const { rows } = await run(database, `SELECT id, name, ${asRaw}, ${big}, ${asRatio}, at, flag FROM stone`)
    const numbers = name === 'postgres' ? ['1', '0.3', 't'] : [1, 0.30000000000000004, 1]
    const raw = name === 'postgres' ? '00c8' : Buffer.from([0, 200])
    const shown = name === 'postgres' ? `${at}+00` : at
    expect(rows).to.deep.equal([
      [numbers[0], 'Gräfin 🏰', raw, '9007199254740993', numbers[1], shown, numbers[2]],
    ])
  })

  it('returns NULL as null', async () => {
    await run(database, 'INSERT INTO stone (id, name) VALUES (?, ?)', [1, null])
    expect((await run(database, 'SELECT name, raw, big, ratio, at, flag FROM stone')).rows).to.deep.equal([
      [null, null, null, null, null, null],
    ])
  })

  const integers = [
    '9223372036854775807',
    '-9223372036854775808',
    '9007199254740993',
    '2147483648',
    '0',
    '-1',
  ]
  for (const integer of integers) {
    it(`stores and finds ${integer} exactly`, async () => {
      const cast = database.dialect.name === 'sqlite' ? 'CAST(? AS INTEGER)' : '?'
      await run(database, `INSERT INTO stone (id, big) VALUES (1, ${cast})`, [BigInt(integer)])
      const near = BigInt(integer) + (integer.startsWith('-9') ? 1n : -1n)
      expect(
        await column(database, `SELECT CAST(big AS CHAR(30)) AS big FROM stone WHERE big = ${cast}`, [
          BigInt(integer),
        ]),
      ).to.satisfy(([found]: string[]) => found?.trim() === integer)
      expect(await column(database, `SELECT id FROM stone WHERE big = ${cast}`, [near])).to.deep.equal([])
    })
  }

  it('takes numbers for LIMIT', async () => {
    await run(database, 'INSERT INTO stone (id) VALUES (1), (2), (3)')
    expect(await column(database, 'SELECT id FROM stone ORDER BY id LIMIT ?', [2])).to.deep.equal(['1', '2'])
  })

  it('binds a part of a Uint8Array', async () => {
    await run(database, 'INSERT INTO stone (id, raw) VALUES (1, ?)', [new Uint8Array([1, 2, 3]).subarray(1)])
    expect(
      await column(
        database,
        `SELECT ${database.dialect.name === 'postgres' ? "encode(raw, 'hex')" : 'hex(raw)'} AS raw FROM stone`,
      ),
    ).to.deep.equal(['0203'])
  })

  it('counts the rows that a write found, changed or not', async () => {
    await run(database, "INSERT INTO stone (id, name) VALUES (1, 'a'), (2, 'b')")
    expect(await run(database, 'UPDATE stone SET flag = flag WHERE id < ?', [9])).to.deep.include({
      rows: [],
      affected: 2,
    })
    expect(await run(database, 'DELETE FROM stone WHERE id = ?', [1])).to.deep.include({
      rows: [],
      affected: 1,
    })
    expect(await run(database, 'DELETE FROM stone WHERE id = ?', [1])).to.deep.include({
      rows: [],
      affected: 0,
    })
  })

  it('counts the rows of a result', async () => {
    await run(database, 'INSERT INTO stone (id) VALUES (1), (2)')
    expect((await run(database, 'SELECT id FROM stone')).affected).to.equal(2)
  })

  const refused: readonly (readonly [what: string, values: readonly unknown[], message: string])[] = [
    ['undefined', [undefined], 'value 1 is of type undefined'],
    ['a Date', [new Date()], 'value 1 is a Date'],
    ['an object', [{ toString: () => 'x' }], 'value 1 is of type object'],
    ['NaN', [NaN], 'value 1 is NaN'],
    ['a function', [() => 1], 'value 1 is of type function'],
    ['a symbol', [Symbol('x')], 'value 1 is of type symbol'],
    ['70,000 values', Array.from({ length: 70_000 }, () => 1), '70000 values'],
  ]
  for (const [what, values, message] of refused) {
    it(`refuses ${what}`, async () => {
      const error = await rejection(run(database, 'SELECT ?', values), Error, message)
      expect(error).to.satisfy((one: Error) => one instanceof TypeError || one instanceof RangeError)
    })
  }

  it('binds an infinity where a column can hold one, and refuses it elsewhere', async () => {
    if (database.dialect.name === 'sqlite')
      expect(await column(database, 'SELECT ? < -1e308', [-Infinity])).to.deep.equal(['1'])
    else await rejection(run(database, 'SELECT ?', [-Infinity]), TypeError, 'value 1 is -Infinity')
  })

  it('keeps a value that looks like SQL a value', async () => {
    const evil = `'; DROP TABLE stone; -- \\' OR 1=1 \u2019 \\`
    await run(database, 'INSERT INTO stone (id, name) VALUES (1, ?)', [evil])
    expect(await column(database, 'SELECT name FROM stone WHERE name = ?', [evil])).to.deep.equal([evil])
  })

  it('runs the same statement many times at once', async () => {
    const once = statement('SELECT ? AS v', database.dialect.name)
    const text = database.dialect.name === 'postgres' ? { ...once, text: 'SELECT $1::int AS v' } : once
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => database.run(text, [index])))
    expect(answers.map(({ rows }) => Number(rows[0]?.[0]))).to.deep.equal([...Array(100).keys()])
  })

  it('rejects with the error of the driver, and goes on', async () => {
    await rejection(run(database, 'SELECT nothing FROM nowhere'), Error)
    expect(await column(database, 'SELECT 1 AS one')).to.deep.equal(['1'])
  })

  it('does not begin when the signal is aborted already', async () => {
    const signal = AbortSignal.abort()
    await rejection(run(database, 'DELETE FROM stone', [], { signal }), Cancelled)
    await rejection(database.lease({ signal }), Cancelled)
  })

  it('says DeadlineExceeded when the signal timed out', async () => {
    const signal = AbortSignal.abort(new DOMException('late', 'TimeoutError'))
    await rejection(run(database, 'SELECT 1 AS one', [], { signal }), DeadlineExceeded)
  })

  it('says what the reason of the signal says when that is one of our errors', async () => {
    const signal = AbortSignal.abort(new DeadlineExceeded('the budget is spent'))
    await rejection(run(database, 'SELECT 1 AS one', [], { signal }), DeadlineExceeded, 'the budget is spent')
  })

  it('returns as usual when the signal aborts afterwards', async () => {
    const caller = new AbortController()
    await run(database, 'SELECT 1 AS one', [], { signal: caller.signal })
    caller.abort()
    expect(await column(database, 'SELECT 1 AS one')).to.deep.equal(['1'])
  })

  describe('lease', () => {
    let lease: Lease
    beforeEach(async () => {
      lease = await database.lease()
    })
    afterEach(() => lease.release())

    it('is one connection: a transaction of its own', async () => {
      await lease.control(database.dialect.name === 'mariadb' ? 'START TRANSACTION' : 'BEGIN')
      await run(lease, 'INSERT INTO stone (id) VALUES (1)')
      expect(await column(lease, 'SELECT id FROM stone')).to.deep.equal(['1'])
      await lease.control('ROLLBACK')
      expect(await column(lease, 'SELECT id FROM stone')).to.deep.equal([])
      expect(lease.dialect.name).to.equal(database.dialect.name)
    })

    if (name !== 'better-sqlite3') {
      it('cancels the statement when the signal aborts, and is usable afterwards', async () => {
        const signal = AbortSignal.timeout(100)
        await rejection(run(lease, SLEEP[lease.dialect.name], [], { signal }), DeadlineExceeded)
        expect(await column(lease, 'SELECT 1 AS one')).to.deep.equal(['1'])
      })
    }
  })

  if (isServer) {
    it('cancels a statement of the pool, so that the server stops it', async () => {
      const caller = new AbortController()
      const text = SLEEP[database.dialect.name]
      const mark = `/* cancelled ${process.pid} ${name} */`
      const asleep = rejection(run(database, `${text} ${mark}`, [], { signal: caller.signal }), Cancelled)
      const list =
        database.dialect.name === 'postgres'
          ? `SELECT pid FROM pg_stat_activity WHERE query LIKE ? AND state = 'active' AND pid <> pg_backend_pid()`
          : 'SELECT id FROM information_schema.processlist WHERE info LIKE ? AND id <> CONNECTION_ID()'
      const sleeping = () =>
        column(database, list, [
          `%SLEEP(60)%${mark}`.replace('SLEEP', name === 'postgres' ? 'sleep' : 'SLEEP'),
        ])
      while ((await sleeping()).length === 0);
      caller.abort()
      await asleep
      expect(await sleeping()).to.deep.equal([])
    })

    it('lets a waiter leave whose caller went away, and loses no connection by it', async () => {
      const small = await new DataSource({
        ...backend.dataSource!.options,
        poolSize: 2,
      } as DataSourceOptions).initialize()
      try {
        const pool = executorOf(small)
        const leases = [await pool.lease(), await pool.lease()]
        const caller = new AbortController()
        const waiting = rejection(run(pool, 'SELECT 1 AS one', [], { signal: caller.signal }), Cancelled)
        caller.abort()
        await waiting
        for (const lease of leases) lease.release()
        for (const lease of await Promise.all([pool.lease(), pool.lease()])) lease.release()
      } finally {
        await small.destroy()
      }
    })

    it('is unavailable when the connection goes, and has a new one afterwards', async () => {
      const lease = await database.lease()
      const [id = ''] = await column(
        lease,
        name === 'postgres' ? 'SELECT pg_backend_pid()' : 'SELECT CONNECTION_ID()',
      )
      const asleep = rejection(
        run(lease, SLEEP[database.dialect.name]),
        Unavailable,
        'connection to the database was lost',
      )
      await run(database, name === 'postgres' ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`)
      await asleep
      await rejection(run(lease, 'SELECT 1 AS one'), Unavailable)
      lease.release({ broken: true })
      expect(await column(database, 'SELECT 1 AS one')).to.deep.equal(['1'])
    })

    it('survives idle connections that go', async () => {
      const [first, second] = [await database.lease(), await database.lease()]
      const id = async (lease: Lease) =>
        (
          await column(lease, name === 'postgres' ? 'SELECT pg_backend_pid()' : 'SELECT CONNECTION_ID()')
        )[0] ?? ''
      const [doomed, own] = [await id(first), await id(second)]
      first.release()
      await run(second, name === 'postgres' ? `SELECT pg_terminate_backend(${doomed})` : `KILL ${doomed}`)
      second.release()
      for (let left = true; left;) {
        const lease = await database.lease()
        left = (await id(lease).catch(() => doomed)) === doomed
        lease.release({ broken: left })
      }
      expect(own).not.to.equal(doomed)
    })

    it('prepares a statement on the server only when it comes again, and keeps a bounded number', async () => {
      const lease = await database.lease()
      const count = async () => {
        if (name === 'postgres')
          return Number((await column(lease, 'SELECT count(*) FROM pg_prepared_statements'))[0])
        // Prepared_stmt_count is that of the whole server, and other tests prepare statements there.
        const status = (await run(lease, "SHOW SESSION STATUS LIKE 'Com_stmt_%'")).rows
        const times = (name: string) => Number(status.find(([variable]) => variable === name)?.[1] ?? 0)
        return times('Com_stmt_prepare') - times('Com_stmt_close')
      }
      const before = await count()
      const texts = Array.from({ length: 30 }, (_, index) =>
        statement(`SELECT ${index} AS v`, database.dialect.name),
      )
      for (const text of texts) await lease.run(text, [])
      expect(await count()).to.be.lessThan(before + 10)
      for (const text of texts) await lease.run(text, [])
      if (name === 'postgres') expect(await count()).to.be.greaterThan(before + 25)
      const many = Array.from({ length: 500 }, (_, index) =>
        statement(`SELECT ${index} AS w`, database.dialect.name),
      )
      for (const text of [...many, ...many]) await lease.run(text, [])
      if (name !== 'postgres') {
        expect(await count()).to.be.within(before + 25, before + 128)
        return lease.release()
      }
      const [old] = await column(lease, 'SELECT pg_backend_pid()')
      lease.release()
      while ((await column(database, `SELECT pid FROM pg_stat_activity WHERE pid = ${old}`)).length > 0);
      expect(await column(database, 'SELECT 1 AS one')).to.deep.equal(['1'])
    })
  }

  if (name === 'postgres') {
    it('reads times in one way, whatever the database says, and sets nothing else', async () => {
      const others = ['bytea_output', 'extra_float_digits', 'IntervalStyle'] as const
      const text = `SELECT timestamptz '2024-01-02 03:04:05+05:45', ${others.map((name) => `current_setting('${name}')`).join(', ')}`
      const { rows } = await run(database, text)
      expect(rows).to.deep.equal([['2024-01-01 21:19:05+00', ...others.map((name) => HOSTILE[name])]])
    })

    it('binds arrays, whatever their texts look like', async () => {
      const texts = ['a', '', 'NULL', 'null', ' x ', 'b"{,}\\', "it's", 'Gräfin 🏰\n', '{1,2}', '\\x00']
      const { rows } = await run(database, 'SELECT array_to_json(?::text[])', [[...texts, null]])
      expect(JSON.parse(rows[0]?.[0] as string)).to.deep.equal([...texts, null])
      const others = await run(
        database,
        `SELECT array_to_json(?::int8[]), array_to_json(?::bool[]), array_to_json(?::float8[]), encode((?::bytea[])[2], 'hex'), array_length(?::text[], 1)`,
        [[1n, 2 ** 40], [true, false, null], [0.1, -1e-7], [Buffer.of(1), Uint8Array.of(0, 92, 255)], []],
      )
      const answered = ['[1,1099511627776]', '[true,false,null]', '[0.1,-1e-07]', '005cff', null]
      expect(others.rows).to.deep.equal([answered])
    })

    it('refuses a pool whose clients cannot carry its statements', async () => {
      const options = { ...backend.dataSource!.options, extra: { pipeline: true } }
      const pipelined = await new DataSource(options as DataSourceOptions).initialize()
      try {
        await rejection(run(executorOf(pipelined), 'SELECT 1'), TypeError, 'extra.pipeline')
      } finally {
        await pipelined.destroy()
      }
    })

    it('refuses undefined inside of an array', () =>
      rejection(run(database, 'SELECT ?::text[]', [[undefined]]), TypeError, 'value 1'))

    it('rejects a COMMIT that the server ends with ROLLBACK', async () => {
      const lease = await database.lease()
      await lease.control('BEGIN')
      await rejection(run(lease, 'SELECT 1 / 0'), Error)
      await rejection(lease.control('COMMIT'), Aborted, 'all of it was rolled back')
      lease.release()
    })
  }

  if (name === 'mariadb' || name === 'mysql8') {
    it('reads what is committed, in UTC, and cuts nothing in silence', async () => {
      const { rows } = await run(
        database,
        'SELECT @@time_zone, @@sql_mode, @@character_set_client, @@collation_connection',
      )
      const [zone, mode, charset] = rows[0] as string[]
      expect([zone, charset]).to.deep.equal(['+00:00', 'utf8mb4'])
      expect(mode)
        .to.match(/STRICT_ALL_TABLES/)
        .and.not.match(/NO_BACKSLASH_ESCAPES|ANSI_QUOTES/)
      await rejection(run(database, 'INSERT INTO stone (id, name) VALUES (1, ?)', ['x'.repeat(100)]), Error)
      const [reader, writer] = [await database.lease(), await database.lease()]
      await reader.control('START TRANSACTION')
      expect(await column(reader, 'SELECT id FROM stone')).to.deep.equal([])
      await run(writer, 'INSERT INTO stone (id) VALUES (7)')
      expect(await column(reader, 'SELECT id FROM stone')).to.deep.equal(['7'])
      await reader.control('ROLLBACK')
      reader.release()
      writer.release()
    })

    it('returns JSON as text', async () => {
      await run(database, 'CREATE TABLE doc (body json)')
      await run(database, 'INSERT INTO doc VALUES (?)', ['{"a": [1, 9007199254740993]}'])
      expect(await column(database, 'SELECT body FROM doc')).to.deep.equal(['{"a": [1, 9007199254740993]}'])
    })

    it('refuses a connection that counts only changed rows', async () => {
      const dataSource = new DataSource({ ...backend.dataSource!.options, flags: ['-FOUND_ROWS'] } as never)
      await dataSource.initialize()
      await rejection(run(executorOf(dataSource), 'SELECT 1 AS one'), TypeError, 'FOUND_ROWS')
      await dataSource.destroy()
    })
  }
})

describe('executorOf', () => {
  it('tells MariaDB by its version when TypeORM was told that it is MySQL', async function () {
    if (serviceUrl('mysql') === undefined) this.skip()
    const { url, drop } = await testDatabase('mysql')
    const dataSource = await new DataSource({ type: 'mysql', url }).initialize()
    expect(executorOf(dataSource).dialect.name).to.equal('mariadb')
    await dataSource.destroy()
    await drop()
  })

  it('says that the DataSource must be initialized', async () => {
    const dataSource = new DataSource({ type: 'postgres', url: 'postgres://nobody@127.0.0.1/none' })
    await rejection(run(executorOf(dataSource), 'SELECT 1'), TypeError, 'not initialized')
  })

  it('is unavailable when no connection can be had', async function () {
    if (serviceUrl('postgres') === undefined) this.skip()
    const { url, drop } = await testDatabase('postgres')
    const dataSource = await new DataSource({ type: 'postgres', url }).initialize()
    const lease = await executorOf(dataSource).lease()
    await drop()
    lease.release({ broken: true })
    await rejection(run(executorOf(dataSource), 'SELECT 1'), Unavailable, 'cannot be reached')
    await dataSource.destroy()
  })

  it('refuses a kind of DataSource that it does not know, and says what to use', () => {
    expect(() =>
      executorOf(new DataSource({ type: 'better-sqlite3', database: ':memory:', driver: {} })),
    ).to.throw(TypeError, 'use SqliteDataSource')
  })
})
