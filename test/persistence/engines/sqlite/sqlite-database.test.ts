import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import {
  Entity,
  EntitySchema,
  type MigrationInterface,
  PrimaryColumn,
  QueryFailedError,
  type QueryRunner,
  QueryRunnerAlreadyReleasedError,
} from 'typeorm'
import { Resource } from '../../../../decorators/index.js'
import { Cancelled, Unavailable } from '../../../../lib/errors.js'
import { SqliteDataSource, type SqliteOptions } from '../../../../lib/persistence/sqlite-data-source.js'
import { backends, describeOn } from '../../../support/databases/backends.js'
import { betterSqlite3 } from '../../../support/databases/better-sqlite3.js'
import { catSchema, ownerSchema } from '../../../support/entities/cats.js'
import { drill } from '../../../support/drill.js'
import { rejection } from '../../../support/rejection.js'
import { Note } from '../../../support/entities/specimen.js'

const engines = backends.filter(({ name }) => name === 'sqlite' || name === 'better-sqlite3')

describeOn('SqliteDataSource', engines, ({ name }) => {
  let dataSource: SqliteDataSource
  const opened: SqliteDataSource[] = []
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-sqlite-'))

  const open = async (options: Partial<SqliteOptions> = {}): Promise<SqliteDataSource> => {
    const engine =
      name === 'sqlite' ? { engine: 'sqlite3' as const } : (betterSqlite3() as { driver: unknown })
    const fresh = new SqliteDataSource({
      database: ':memory:',
      entities: [catSchema, ownerSchema],
      ...engine,
      ...options,
    })
    await fresh.initialize()
    opened.push(fresh)
    return fresh
  }
  const names = async () =>
    (await dataSource.getRepository(catSchema).find({ order: { id: 'ASC' } })).map((cat) => cat.name)

  beforeEach(async () => {
    dataSource = await open()
  })
  afterEach(async () => {
    for (const one of opened.splice(0)) if (one.isInitialized) await one.destroy()
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  describe('in ordinary TypeORM use', () => {
    it('saves, finds, updates and removes with relations', async () => {
      const owner = await dataSource.getRepository(ownerSchema).save({ name: 'ada' })
      const cats = dataSource.getRepository(catSchema)
      const [tom] = await cats.save([{ name: 'tom', owner }, { name: 'kit' }])
      expect(tom?.id).to.equal(1)
      expect(await cats.find({ relations: { owner: true }, order: { id: 'ASC' } })).to.deep.equal([
        { id: 1, name: 'tom', lives: null, owner: { id: 1, name: 'ada' } },
        { id: 2, name: 'kit', lives: null, owner: null },
      ])
      expect((await cats.update({ name: 'tom' }, { lives: 9 })).affected).to.equal(1)
      expect(await cats.count({ where: { lives: 9 } })).to.equal(1)
      expect((await cats.delete({ name: 'nobody' })).affected).to.equal(0)
      await cats.remove(await cats.findOneByOrFail({ name: 'kit' }))
      expect(await names()).to.deep.equal(['tom'])
    })

    it('tells a violated constraint as a QueryFailedError', async () => {
      const cats = dataSource.getRepository(catSchema)
      await cats.insert({ name: 'tom' })
      await rejection(cats.insert({ name: 'tom' }), QueryFailedError, 'UNIQUE constraint failed')
    })

    it('finds nothing to synchronize after synchronizing', async () => {
      const log = await dataSource.driver.createSchemaBuilder().log()
      expect(log.upQueries.map(({ query }) => query)).to.deep.equal([])
    })

    it('leaves a resource with synchronize: false to whoever creates its table', async () => {
      @Resource({ shared: true })
      @Entity({ name: 'made_elsewhere', synchronize: false })
      class Elsewhere {
        @PrimaryColumn() id!: string
      }
      const other = await open({ entities: [Elsewhere, Note] })
      const tables = await other.query<{ name: string }[]>(
        `SELECT name FROM sqlite_schema WHERE type = 'table'`,
      )
      expect(tables.map(({ name }) => name)).to.deep.equal(['notes'])
    })

    it('alters a table that has rows', async () => {
      const database = join(folder, 'altered.db')
      const old = await open({ database })
      await old.getRepository(catSchema).insert({ name: 'tom' })
      await old.destroy()
      const wider = new EntitySchema<object>({
        ...catSchema.options,
        columns: { ...catSchema.options.columns, colour: { type: String, default: 'grey' } },
      } as never)
      const fresh = await open({ database, entities: [wider, ownerSchema] })
      expect(await fresh.query('SELECT name, colour FROM cat')).to.deep.equal([
        { name: 'tom', colour: 'grey' },
      ])
    })

    it('nests transactions as savepoints', async () => {
      await dataSource.transaction(async (manager) => {
        await manager.insert(catSchema, { name: 'kept' })
        await rejection(
          manager.transaction(async (inner) => {
            await inner.insert(catSchema, { name: 'dropped' })
            throw new TypeError('no')
          }),
          TypeError,
        )
        await manager.insert(catSchema, { name: 'kept too' })
      })
      expect(await names()).to.deep.equal(['kept', 'kept too'])
    })

    it('runs, shows and reverts migrations', async () => {
      const migrated = await open({ synchronize: false, migrations: [Dogs0000000000001] })
      expect(await migrated.showMigrations()).to.equal(true)
      expect((await migrated.runMigrations()).length).to.equal(1)
      await migrated.query('INSERT INTO dog VALUES (1)')
      expect(await migrated.showMigrations()).to.equal(false)
      await migrated.undoLastMigration()
      await rejection(migrated.query('SELECT * FROM dog'), QueryFailedError, 'no such table')
    })

    it('drops and makes the schema again', async () => {
      await dataSource.getRepository(catSchema).insert({ name: 'tom' })
      await dataSource.synchronize(true)
      expect(await names()).to.deep.equal([])
    })

    it('rolls back what a released query runner left open', async () => {
      const runner = dataSource.createQueryRunner()
      await runner.startTransaction()
      await runner.manager.insert(catSchema, { name: 'left' })
      await runner.release()
      expect(await names()).to.deep.equal([])
    })
  })

  describe('while a transaction is open', () => {
    it('keeps what others wrote when it rolls back', async () => {
      const cats = dataSource.getRepository(catSchema)
      const others: Promise<unknown>[] = []
      await rejection(
        dataSource.transaction(async (manager) => {
          await manager.insert(catSchema, { name: 'mine' })
          others.push(cats.insert({ name: 'single' }))
          others.push(dataSource.transaction((other) => other.insert(catSchema, { name: 'theirs' })))
          for (let i = 0; i < 10; i++) await turn()
          expect(await manager.count(catSchema)).to.equal(1)
          throw new TypeError('roll back')
        }),
        TypeError,
        'roll back',
      )
      await Promise.all(others)
      expect((await names()).sort()).to.deep.equal(['single', 'theirs'])
    })

    it('keeps exactly what was reported as written, however many write at once', async () => {
      const cats = dataSource.getRepository(catSchema)
      const kept: string[] = []
      const write = async (id: number) => {
        const label = String(id).padStart(6, '0')
        if (id % 3 === 0) await cats.insert({ name: label })
        if (id % 3 === 1)
          await dataSource.transaction((manager) => manager.insert(catSchema, { name: label }))
        if (id % 3 !== 2) return kept.push(label)
        const failing = dataSource.transaction(async (manager) => {
          await manager.insert(catSchema, { name: label })
          if (id % 2 === 0) await turn()
          throw new TypeError('roll back')
        })
        return rejection(failing, TypeError)
      }
      await Promise.all(Array.from({ length: drill(150, 6000) }, (_, id) => write(id)))
      expect((await names()).sort()).to.deep.equal(kept.sort())
    })

    it('lets nobody read what is not committed', async () => {
      const reads: Promise<string[]>[] = []
      await dataSource.transaction(async (manager) => {
        await manager.insert(catSchema, { name: 'a' })
        reads.push(names())
        await turn()
        await manager.insert(catSchema, { name: 'b' })
      })
      expect(await Promise.all(reads)).to.deep.equal([['a', 'b']])
    })

    it('serves transactions and statements in the order in which they came', async () => {
      const order: string[] = []
      const lease = await dataSource.leases!.lease()
      const write = (label: string) =>
        dataSource.transaction(async (manager) => {
          await manager.query('SELECT 1')
          order.push(label)
        })
      const read = async (label: string) => {
        await dataSource.leases!.run('SELECT 1', [], 'array')
        order.push(label)
      }
      const work = [write('1 write'), read('2 read'), write('3 write'), read('4 read'), write('5 write')]
      await lease.release(true)
      await Promise.all(work)
      expect(order).to.deep.equal(['1 write', '2 read', '3 write', '4 read', '5 write'])
    })

    it('hands the connection back when its rollback fails', async () => {
      const runner = dataSource.createQueryRunner()
      await runner.startTransaction()
      await runner.query('ROLLBACK')
      await rejection(runner.rollbackTransaction(), QueryFailedError, 'no transaction is active')
      await dataSource.transaction((manager) => manager.insert(catSchema, { name: 'next' }))
      await runner.startTransaction()
      await runner.commitTransaction()
      await runner.release()
      expect(await names()).to.deep.equal(['next'])
    })

    it('hands the connection back that a released query runner waited for', async () => {
      const lease = await dataSource.leases!.lease()
      const runner = dataSource.createQueryRunner()
      const begun = rejection(runner.startTransaction(), QueryRunnerAlreadyReleasedError)
      await runner.release()
      await lease.release(true)
      await begun
      await dataSource.transaction((manager) => manager.insert(catSchema, { name: 'next' }))
      expect(await names()).to.deep.equal(['next'])
    })

    it('is unavailable to others after the busy timeout, and goes on itself', async () => {
      const hasty = await open({ busyTimeoutMs: 20 })
      await hasty.transaction(async (manager) => {
        await rejection(hasty.query('SELECT 1'), Unavailable, 'busy with another transaction for 20 ms')
        await rejection(
          hasty.transaction(() => Promise.resolve()),
          Unavailable,
        )
        await manager.insert(catSchema, { name: 'tom' })
      })
      expect(await hasty.getRepository(catSchema).count()).to.equal(1)
    })

    it('lets a waiter leave whose caller went away', async () => {
      const lease = await dataSource.leases!.lease()
      const caller = new AbortController()
      const waiting = dataSource.leases!.run('SELECT 1', [], 'array', caller.signal)
      const next = dataSource.leases!.run('SELECT 2', [], 'array')
      caller.abort()
      await rejection(waiting, Cancelled)
      await lease.release(true)
      expect((await next).rows).to.deep.equal([[2]])
    })

    it('sends its statements in the order in which they were called', async () => {
      const lease = await dataSource.leases!.lease()
      const calls = [
        'BEGIN',
        "INSERT INTO cat (name) VALUES ('a')",
        "UPDATE cat SET name = name || 'b'",
        'COMMIT',
      ].map((text) => lease.run(text, [], 'array'))
      await Promise.all(calls)
      await lease.release(true)
      expect(await names()).to.deep.equal(['ab'])
    })

    it('refuses statements on a connection that was handed back', async () => {
      const lease = await dataSource.leases!.lease()
      await lease.release()
      await rejection(lease.run('SELECT 1', [], 'array'), TypeError, 'already released')
    })
  })

  describe('settings', () => {
    it('enforces foreign keys', async () => {
      await rejection(
        dataSource.query('INSERT INTO cat (name, ownerId) VALUES (?, ?)', ['tom', 7]),
        QueryFailedError,
      )
    })

    it('enforces foreign keys again after a migration that failed', async () => {
      const migrated = await open({ migrations: [Failing0000000000001], logger: 'debug' })
      await rejection(migrated.runMigrations(), QueryFailedError)
      expect(await migrated.query('PRAGMA foreign_keys')).to.deep.equal([{ foreign_keys: 1 }])
      expect(await migrated.query("SELECT name FROM sqlite_master WHERE name = 'half'")).to.deep.equal([])
    })

    it('rolls a migration back after which rows refer to missing rows, and counts no earlier ones', async () => {
      const migrated = await open({ migrations: [Orphaning0000000000001], logger: 'debug' })
      for (const statement of [
        'CREATE TABLE parents (id INTEGER PRIMARY KEY)',
        'CREATE TABLE children (parent INTEGER REFERENCES parents (id))',
        'INSERT INTO parents (id) VALUES (1)',
        'INSERT INTO children (parent) VALUES (1)',
      ])
        await migrated.query(statement)
      await rejection(migrated.runMigrations(), TypeError, 'children has 1 such row')
      expect(await migrated.query('SELECT id FROM parents')).to.deep.equal([{ id: 1 }])
      await migrated.query('PRAGMA foreign_keys = OFF')
      await migrated.query('DELETE FROM parents')
      await migrated.query('PRAGMA foreign_keys = ON')
      expect(await migrated.runMigrations()).to.have.length(1)
    })

    it('lets nobody in while a migration has foreign keys off', async () => {
      const runner = dataSource.createQueryRunner()
      await runner.beforeMigration()
      const other = dataSource.query('PRAGMA foreign_keys')
      expect(await runner.query('PRAGMA foreign_keys')).to.deep.equal([{ foreign_keys: 0 }])
      await runner.afterMigration()
      expect(await other).to.deep.equal([{ foreign_keys: 1 }])
      await runner.release()
    })

    it('makes the folder of a file, and keeps a file in WAL mode', async () => {
      const file = await open({ database: join(folder, 'deep', 'down', 'cats.db') })
      expect(await file.query('PRAGMA journal_mode')).to.deep.equal([{ journal_mode: 'wal' }])
    })

    it('waits for another process that holds the file', async () => {
      const database = join(folder, 'two.db')
      const [here, there] = [await open({ database }), await open({ database, busyTimeoutMs: 5 })]
      await here.transaction(async () => {
        const error = await rejection(there.query("INSERT INTO cat (name) VALUES ('x')"), QueryFailedError)
        expect((error.driverError as { code?: string }).code).to.equal('SQLITE_BUSY')
      })
    })

    it('refuses who comes after it was closed, and who waits', async () => {
      const leases = dataSource.leases!
      const lease = await leases.lease()
      const closing = dataSource.destroy()
      const waiting = rejection(leases.run('SELECT 1', [], 'array'), Unavailable, 'closed')
      await lease.release(true)
      await closing
      await waiting
      await rejection(leases.lease(), Unavailable, 'closed')
    })
  })

  describe('statements', () => {
    const values: readonly (readonly [what: string, value: unknown, stored: unknown, type: string])[] = [
      ['null', null, null, 'null'],
      ['true', true, 1, 'integer'],
      ['false', false, 0, 'integer'],
      ['a small integer', 42, 42, 'integer'],
      ['the largest 32-bit integer', 2147483647, 2147483647, 'integer'],
      ['an integer beyond 32 bits', 2147483648, 2147483648, 'real'],
      ['a fraction', 0.1, 0.1, 'real'],
      ['a bigint, as exact text', 9007199254740993n, '9007199254740993', 'text'],
      ['text', 'é😀', 'é😀', 'text'],
      ['a Buffer', Buffer.from([0, 255]), Buffer.from([0, 255]), 'blob'],
      ['part of a Uint8Array', new Uint8Array([1, 2, 3]).subarray(1, 2), Buffer.from([2]), 'blob'],
      ['no bytes', new Uint8Array(), Buffer.alloc(0), 'blob'],
    ]
    for (const [what, value, stored, type] of values) {
      it(`bind ${what}`, async () => {
        const { rows } = await dataSource.leases!.run(
          'SELECT ? AS v, typeof(?) AS t',
          [value, value],
          'array',
        )
        expect(rows).to.deep.equal([[stored, type]])
      })
    }

    it('keep 64-bit integers exact through CAST', async () => {
      const leases = dataSource.leases!
      await leases.run('CREATE TABLE big (n INTEGER)', [], 'array')
      await leases.run(
        'INSERT INTO big VALUES (CAST(? AS INTEGER)), (?)',
        [9223372036854775807n, -9007199254740993n],
        'array',
      )
      const { rows } = await leases.run('SELECT CAST(n AS TEXT) AS n, typeof(n) AS t FROM big', [], 'array')
      expect(rows).to.deep.equal([
        ['9223372036854775807', 'integer'],
        ['-9007199254740993', 'integer'],
      ])
    })

    const refused: readonly (readonly [
      what: string,
      text: string,
      values: readonly unknown[],
      message: string,
    ])[] = [
      ['undefined', 'SELECT ?', [undefined], 'value 1 is of type undefined'],
      ['a Date', 'SELECT ?', [new Date()], 'value 1 is a Date'],
      ['an object', 'SELECT ?, ?', [1, {}], 'value 2 is of type object'],
      ['an array', 'SELECT ?', [[1]], 'value 1 is of type object'],
      ['NaN', 'SELECT ?', [NaN], 'value 1 is NaN'],
      ['a missing value', 'SELECT ?, ?', [1], 'takes 2 value'],
      ['a value too many', 'SELECT ?', [1, 2], 'takes 1 value'],
      ['a second statement', 'SELECT 1; DELETE FROM cat', [], 'one statement at a time'],
      ['BEGIN outside of a lease', 'BEGIN', [], 'started with transaction'],
      ['COMMIT behind a comment', '/* x */ COMMIT', [], 'started with transaction'],
    ]
    for (const [what, text, bound, message] of refused) {
      it(`refuse ${what}`, async () => {
        const error = await rejection(dataSource.leases!.run(text, bound, 'array'), Error, message)
        expect(error).to.satisfy((one: Error) => one instanceof TypeError || one instanceof RangeError)
      })
    }

    it('return how many rows a write found, and the rows of RETURNING', async () => {
      const leases = dataSource.leases!
      const insert = 'INSERT INTO cat (name) VALUES (?), (?)'
      expect(await leases.run(insert, ['a', 'b'], 'array')).to.deep.equal({
        rows: [],
        affected: 2,
        lastId: 2,
      })
      const { rows, affected } = await leases.run('UPDATE cat SET lives = 1 RETURNING name', [], 'array')
      expect({ rows, affected }).to.deep.equal({ rows: [['a'], ['b']], affected: 2 })
    })

    it('run beside each other with the same text and keep their own results', async () => {
      const answers = Array.from({ length: 50 }, (_, index) =>
        dataSource.leases!.run('SELECT ? AS v', [index], 'array'),
      )
      expect((await Promise.all(answers)).map(({ rows }) => rows)).to.deep.equal(
        Array.from({ length: 50 }, (_, i) => [[i]]),
      )
    })

    it('survive more texts than are kept prepared', async () => {
      const texts = Array.from({ length: 600 }, (_, index) => `SELECT ${index} AS v`)
      const answers = await Promise.all(
        [...texts, ...texts].map((text) => dataSource.leases!.run(text, [], 'array')),
      )
      expect(answers.map(({ rows }) => (rows[0] as number[])[0])).to.deep.equal([
        ...texts.keys(),
        ...texts.keys(),
      ])
    })

    it('see a table that was altered after they were prepared', async () => {
      const leases = dataSource.leases!
      await leases.run("INSERT INTO cat (name) VALUES ('tom')", [], 'array')
      expect((await leases.run('SELECT * FROM owner', [], 'object')).rows).to.deep.equal([])
      await leases.run('ALTER TABLE owner ADD COLUMN age INTEGER DEFAULT 7', [], 'array')
      await leases.run("INSERT INTO owner (name) VALUES ('ada')", [], 'array')
      expect((await leases.run('SELECT * FROM owner', [], 'object')).rows).to.deep.equal([
        { id: 1, name: 'ada', age: 7 },
      ])
    })
  })
})

describe('SqliteDataSource', () => {
  it('names the package to install when the engine is missing', async function () {
    let isInstalled = true
    const name = 'better-sqlite3'
    await import(name).catch(() => (isInstalled = false))
    if (isInstalled) this.skip()
    const dataSource = new SqliteDataSource({ database: ':memory:', engine: 'better-sqlite3' })
    await rejection(
      dataSource.initialize(),
      TypeError,
      'better-sqlite3 is not installed: npm install better-sqlite3',
    )
  })

  it('refuses a driver that is neither engine', async () => {
    const dataSource = new SqliteDataSource({ database: ':memory:', driver: { open: true } })
    await rejection(dataSource.initialize(), TypeError, 'driver must be the module object')
  })

  it('is declared without loading an engine', () => {
    expect(
      () => new SqliteDataSource({ database: '/no/such/folder/x.db', engine: 'better-sqlite3' }),
    ).not.to.throw()
  })

  it('says that it must be initialized', async () => {
    const dataSource = new SqliteDataSource({ database: ':memory:' })
    await rejection(dataSource.query('SELECT 1'), TypeError, 'not initialized')
  })

  it('interrupts the statement of a transaction whose caller went away', async () => {
    const dataSource = await new SqliteDataSource({ database: ':memory:', engine: 'sqlite3' }).initialize()
    const lease = await dataSource.leases!.lease()
    const caller = new AbortController()
    const endless =
      'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) AS n FROM r'
    const running = lease.run(endless, [], 'array', caller.signal)
    const interrupting = setInterval(() => caller.abort(), 20)
    await rejection(running, Cancelled)
    clearInterval(interrupting)
    expect((await lease.run('SELECT 1', [], 'array')).rows).to.deep.equal([[1]])
    await lease.release(true)
    await dataSource.destroy()
  })
})

class Dogs0000000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE dog (id INTEGER PRIMARY KEY)')
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE dog')
  }
}

class Failing0000000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE half (id INTEGER PRIMARY KEY)')
    await runner.query('CREATE TABLE half (id INTEGER PRIMARY KEY)')
  }
  async down(): Promise<void> {}
}

class Orphaning0000000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM parents')
  }
  async down(): Promise<void> {}
}
