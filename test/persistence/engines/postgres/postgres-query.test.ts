import { expect } from 'chai'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { Cancelled, Unavailable } from '../../../../lib/errors.js'
import { RequestContext } from '../../../../lib/context.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import type { Database, Lease, Statement } from '../../../../lib/persistence/engines/executor/executor.js'
import { atomically, current, transaction } from '../../../../lib/persistence/sql/transaction.js'
import { databases, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import { rejection } from '../../../support/rejection.js'
import { column, run, statement } from '../../../support/databases/statement.js'

const onPostgres = databases.filter(({ name }) => name === 'postgres')

describeOn('a query without a description of its rows', onPostgres, (backend) => {
  let open: OpenBackend
  let database: Database
  let lease: Lease

  before(async () => {
    open = await backend.open([])
    database = open.database!
  })
  after(() => open?.close())
  beforeEach(async () => {
    lease = await database.lease()
    await run(lease, 'DROP TABLE IF EXISTS stone')
    await run(lease, 'CREATE TABLE stone (id int PRIMARY KEY, name varchar(10), peer int)')
    await run(lease, "INSERT INTO stone (id, name) VALUES (1, 'a'), (2, 'b')")
  })
  afterEach(() => lease.release())

  const isUsable = async (on: Database | Lease = lease) =>
    expect(await column(on, "SELECT 'on'")).to.deep.equal(['on'])

  const oneConnection = (own: Partial<DataSourceOptions> = {}) =>
    new DataSource({ ...open.dataSource!.options, poolSize: 1, ...own } as DataSourceOptions).initialize()

  /** Runs it so often that it is prepared. */
  async function prepared(text: string, values: readonly unknown[] = []): Promise<Statement> {
    const made = statement(text, 'postgres')
    for (let round = 0; round < 3; round++) await lease.run(made, values)
    expect(
      await column(lease, 'SELECT count(*) FROM pg_prepared_statements WHERE name = ?', [made.name]),
    ).to.deep.equal(['1'])
    return made
  }

  it('sends texts and bytes of every length, and NULL', async () => {
    const texts = ['', 'a', 'é€😀', '😀'.repeat(1000), 'x'.repeat(300_000)]
    const { rows } = await lease.run(
      statement('SELECT ?::text, ?::text, ?::text, ?::text, ?::text', 'postgres'),
      texts,
    )
    expect(rows).to.deep.equal([texts])
    const bytes = Buffer.alloc(5000, 'ab')
    const made = statement(
      "SELECT encode(?::bytea, 'hex'), ?::text IS NULL, octet_length(?::bytea)",
      'postgres',
    )
    expect((await lease.run(made, [bytes, null, Buffer.alloc(0)])).rows).to.deep.equal([
      [bytes.toString('hex'), 't', '0'],
    ])
  })

  describe('that was prepared', () => {
    it('works after the type of a column changed', async () => {
      const made = await prepared('SELECT name FROM stone ORDER BY id')
      await run(database, 'ALTER TABLE stone ALTER COLUMN name TYPE text')
      for (let round = 0; round < 2; round++)
        expect((await lease.run(made, [])).rows).to.deep.equal([['a'], ['b']])
    })

    it('works after the type of a column that it is given changed', async () => {
      const made = await prepared('SELECT id, peer FROM stone WHERE id = ?', [1])
      await run(database, 'ALTER TABLE stone ALTER COLUMN id TYPE bigint')
      expect((await lease.run(made, ['3000000000'])).rows).to.deep.equal([])
      expect((await lease.run(made, [1])).rows).to.deep.equal([['1', null]])
    })

    it('works after the server has forgotten it', async () => {
      const made = await prepared('SELECT name FROM stone WHERE id = ?', [1])
      await run(lease, 'DEALLOCATE ALL')
      expect((await lease.run(made, [2])).rows).to.deep.equal([['b']])
      await run(lease, 'DISCARD ALL')
      expect((await lease.run(made, [1])).rows).to.deep.equal([['a']])
    })

    it('works when the server had one of its name from somebody else', async () => {
      const made = statement('SELECT name FROM stone WHERE id = ?', 'postgres')
      await run(lease, `PREPARE ${made.name} AS SELECT 'somebody else'`)
      for (let round = 0; round < 3; round++) expect((await lease.run(made, [2])).rows).to.deep.equal([['b']])
    })

    it('fails no transaction', async () => {
      const made = await prepared('SELECT name FROM stone ORDER BY id')
      lease.release()
      const only = await oneConnection()
      try {
        const pool = executorOf(only)
        for (let round = 0; round < 3; round++) await pool.run(made, [])
        await run(database, 'ALTER TABLE stone ALTER COLUMN name TYPE text')
        let attempts = 0
        const read = () =>
          transaction(
            pool,
            async () => {
              const scope = current(pool)
              attempts++
              await run(scope, 'UPDATE stone SET peer = coalesce(peer, 0) + 1')
              return (await scope.run(made, [])).rows
            },
            { maxAttempts: 3 },
          )
        expect(await read()).to.deep.equal([['a'], ['b']])
        expect(await column(pool, 'SELECT DISTINCT peer FROM stone')).to.deep.equal(['1'])
        expect(attempts).to.equal(1)
        await run(pool, 'ALTER TABLE stone ALTER COLUMN name TYPE varchar(20)')
        const batch = () => atomically(pool, RequestContext.current(), (on) => on.run(made, []))
        expect((await batch()).rows).to.deep.equal([['a'], ['b']])
        expect((await pool.run(made, [])).rows).to.deep.equal([['a'], ['b']])
      } finally {
        await only.destroy()
        lease = await database.lease()
      }
    })

    it('fails no batch of a transaction, however many of its statements are out of date', async () => {
      const many = Array.from({ length: 6 }, (_, n) => statement(`SELECT name, ${n} FROM stone`, 'postgres'))
      const only = await oneConnection()
      try {
        const pool = executorOf(only)
        const batch = (context = RequestContext.current()) =>
          atomically(current(pool, context), context, async (on) => {
            for (const made of many) expect((await on.run(made, [])).rows).to.have.length(2)
          })
        const outOfDate = async (type: string) => {
          for (let round = 0; round < 3; round++) await batch()
          await run(pool, `ALTER TABLE stone ALTER COLUMN name TYPE ${type}`)
        }
        await outOfDate('text')
        await batch()
        await outOfDate('varchar(20)')
        await transaction(pool, (context) => batch(context))
        await outOfDate('text')
        await run(pool, 'DISCARD ALL')
        await transaction(pool, (context) => batch(context))
      } finally {
        await only.destroy()
      }
    })

    it('is sent again after it could not be parsed', async () => {
      const made = statement('SELECT colour FROM stone', 'postgres')
      for (let round = 0; round < 3; round++) await rejection(lease.run(made, []), Error)
      await run(lease, "ALTER TABLE stone ADD colour text DEFAULT 'red'")
      for (let round = 0; round < 3; round++)
        expect((await lease.run(made, [])).rows).to.deep.equal([['red'], ['red']])
    })
  })

  describe('of several statements', () => {
    const readsOf = (...texts: readonly string[]) =>
      texts.map((text) => ({ statement: statement(text, 'postgres'), values: [] }))

    it('has the rows of each, again and again, also where one text is there twice', async () => {
      const reads = readsOf(
        'SELECT name FROM stone ORDER BY id',
        'SELECT id FROM stone WHERE id > 9',
        'SELECT id FROM stone ORDER BY id DESC',
      )
      reads.push(...reads.slice(0, 1))
      for (let round = 0; round < 4; round++) {
        const results = await database.runAll!(reads)
        expect(results.map(({ rows }) => rows)).to.deep.equal([
          [['a'], ['b']],
          [],
          [['2'], ['1']],
          [['a'], ['b']],
        ])
        expect(results.map(({ affected }) => affected)).to.deep.equal([2, 0, 2, 2])
      }
    })

    it('fails with the first that fails, and leaves the connection usable', async () => {
      const reads = readsOf('SELECT 1', 'SELECT 1 / (id - 2) FROM stone', 'SELECT 3')
      for (let round = 0; round < 4; round++) {
        await rejection(database.runAll!(reads), Error)
        await isUsable(database)
      }
    })

    it('works after the type of a column changed under the second of them', async () => {
      const only = await oneConnection()
      try {
        const pool = executorOf(only)
        const reads = readsOf('SELECT 1', 'SELECT name FROM stone ORDER BY id')
        for (let round = 0; round < 3; round++) await pool.runAll!(reads)
        await run(database, 'ALTER TABLE stone ALTER COLUMN name TYPE text')
        for (let round = 0; round < 2; round++)
          expect((await pool.runAll!(reads)).map(({ rows }) => rows)).to.deep.equal([[['1']], [['a'], ['b']]])
      } finally {
        await only.destroy()
      }
    })

    it('ends at once where the call is cancelled, in whichever of them', async () => {
      const mark = `several_${process.pid}`
      const controller = new AbortController()
      const reads = readsOf('SELECT 1', `SELECT pg_sleep(60), '${mark}'`)
      const running = rejection(database.runAll!(reads, { signal: controller.signal }), Cancelled)
      const active = () =>
        column(
          lease,
          `SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%${mark}%' AND state = 'active' AND pid <> pg_backend_pid()`,
        )
      while ((await active())[0] === '0');
      controller.abort()
      await running
      while ((await active())[0] !== '0');
      await isUsable(database)
    })
  })

  it('fails as a whole when an error comes in the middle of the rows', async () => {
    const failing = 'SELECT 10 / (5 - n), repeat(n::text, 1000) FROM generate_series(1, 9) n'
    const error = await rejection(run(lease, failing), Error)
    expect(error).to.not.be.instanceOf(Unavailable)
    await isUsable()
  })

  it('fails when the commit that ends it does', async () => {
    await run(
      lease,
      'ALTER TABLE stone ADD FOREIGN KEY (peer) REFERENCES stone DEFERRABLE INITIALLY DEFERRED',
    )
    await rejection(run(lease, 'UPDATE stone SET peer = 99'), Error)
    expect(await column(lease, 'SELECT count(peer) FROM stone')).to.deep.equal(['0'])
  })

  it('stands thousands of notices', async () => {
    await run(lease, `SET client_min_messages = 'notice'`)
    await run(lease, `DO $$ BEGIN FOR i IN 1..5000 LOOP RAISE NOTICE '%', repeat('n', 100); END LOOP; END $$`)
    await isUsable()
  })

  it('refuses to copy in, and skips what is copied out', async () => {
    await rejection(run(lease, 'COPY stone FROM STDIN'), Error)
    await isUsable()
    await run(lease, 'COPY stone TO STDOUT')
    await isUsable()
  })

  it('takes an empty text', async () => {
    expect(await run(lease, '')).to.deep.equal({ rows: [], affected: 0 })
    await isUsable()
  })

  it('leaves the connection usable when its values are too large to be sent', async () => {
    const half = 'x'.repeat(2 ** 28)
    await rejection(run(lease, 'SELECT ?::text[]', [[half, half, half]]), RangeError)
    await isUsable()
    await isUsable(database)
  })

  const items: readonly (string | null)[] = [
    '',
    'NULL',
    'null',
    null,
    '{}',
    ',',
    '"',
    '\\',
    '\\"',
    ' a ',
    '\n',
    "'",
    '{"a",b}',
    '🏰',
  ]
  it('takes lists of texts as they are', async () => {
    expect(
      (await run(lease, 'SELECT v FROM unnest(?::text[]) AS u(v)', [items])).rows.map(([v]) => v),
    ).to.deep.equal(items)
  })

  it('gives up a statement that takes longer than query_timeout, and its connection with it', async () => {
    const hasty = await oneConnection({ extra: { query_timeout: 300 } })
    try {
      const pool = executorOf(hasty)
      await isUsable(pool)
      const mark = `hasty_${process.pid}`
      await rejection(run(pool, `SELECT pg_sleep(60), '${mark}'`), Unavailable)
      await isUsable(pool)
      const left = () =>
        column(
          lease,
          `SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%${mark}%' AND state = 'active' AND pid <> pg_backend_pid()`,
        )
      while ((await left())[0] !== '0');
    } finally {
      await hasty.destroy()
    }
  })
})
