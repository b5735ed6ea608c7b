import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  BeforeInsert,
  BeforeRecover,
  BeforeSoftRemove,
  BeforeUpdate,
  Column,
  Entity,
  PrimaryColumn,
} from 'typeorm'
import { Emits, ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { AshlarError, ErrPreconditionFailed } from '../../../lib/errors.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { betterSqlite3 } from '../../support/databases/better-sqlite3.js'
import { rejection } from '../../support/rejection.js'

/** What the hook of the next write does; dropped when it has begun. */
const doing: ((task: CountedTask) => unknown)[] = []

@Resource()
@Entity('counted_tasks')
@TenantScoped()
@SoftDeletable()
class CountedTask {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column({ default: 0 }) revision!: number
  @Column({ type: String, nullable: true }) note?: string
  deleteTime?: Date
  @ETag() etag!: string
  accountId!: string

  @BeforeInsert() @BeforeUpdate() @BeforeSoftRemove() @BeforeRecover() async count(): Promise<void> {
    this.revision++
    await doing.shift()?.(this)
  }
}

/** An event is written after each of its writes. */
@Resource()
@Entity('told_tasks')
@TenantScoped()
@SoftDeletable()
@Emits()
class ToldTask {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column({ default: 0 }) revision!: number
  deleteTime?: Date
  accountId!: string

  @BeforeInsert() @BeforeUpdate() @BeforeSoftRemove() @BeforeRecover() count(): void {
    this.revision++
  }
}

const engines = backends.filter(({ name }) => name === 'sqlite' || name === 'better-sqlite3')

describeOn('a write with a hook on SQLite', engines, ({ name }) => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-hooked-'))
  const principal = { tenant: 'acme', subject: 'ada', groups: [], scopes: [] }
  const context = new RequestContext({ principal })
  const opened: SqliteDataSource[] = []
  let tasks: TypeormRepository<CountedTask>
  let told: TypeormRepository<ToldTask>
  /** As of another process: on a connection of its own. */
  let others: TypeormRepository<CountedTask>
  let sent: string[] = []

  const open = async () => {
    const engine =
      name === 'sqlite' ? { engine: 'sqlite3' as const } : (betterSqlite3() as { driver: unknown })
    const dataSource = new SqliteDataSource({
      database: join(folder, 'tasks.db'),
      entities: [CountedTask, ToldTask],
      ...engine,
    })
    opened.push(await dataSource.initialize())
    return dataSource
  }
  before(async () => {
    const dataSource = await open()
    await createTables(dataSource, [CountedTask, ToldTask], 'sqlite')
    tasks = new TypeormRepository(dataSource, CountedTask)
    told = new TypeormRepository(dataSource, ToldTask)
    others = new TypeormRepository(await open(), CountedTask)
    const database = executorOf(dataSource)
    const { lease } = database
    database.lease = async (options) => {
      const leased = await lease.call(database, options)
      const { run, control } = leased
      leased.run = (statement, ...rest) => (
        sent.push(statement.text.split(' ')[0] as string),
        run.call(leased, statement, ...rest)
      )
      leased.control = (text) => (sent.push(text.split(' ')[0] as string), control.call(leased, text))
      return leased
    }
  })
  beforeEach(async () => {
    doing.length = 0
    await others.delete('a', { context }).catch(() => {})
    await opened[0]?.query('DELETE FROM counted_tasks')
    await tasks.create({ id: 'a', title: 'one', revision: 0 }, { context })
    sent = []
  })
  after(async () => {
    for (const dataSource of opened) await dataSource.destroy()
    rmSync(folder, { recursive: true, force: true })
  })
  const rename = (title: string) => tasks.update('a', { title }, ['title'], { context })

  it('is a transaction, which reads the row in it', async () => {
    await rename('two')
    await tasks.create({ id: 'b', title: 'new' }, { context })
    await tasks.delete('a', { context })
    await tasks.undelete('a', { context })
    const write = ['BEGIN', 'SELECT', 'UPDATE', 'COMMIT']
    expect(sent).to.deep.equal([...write, 'BEGIN', 'INSERT', 'COMMIT', ...write, ...write])
    const { title, revision } = await tasks.get('a', { context })
    expect({ title, revision }).to.deep.equal({ title: 'two', revision: 4 })
  })

  it('rolls back what its hook has written when the hook fails', async () => {
    doing.push(() => tasks.create({ id: 'made', title: 'by the hook' }))
    await rename('two')
    doing.push(async () => {
      await tasks.create({ id: 'lost', title: 'by the hook' })
      throw new ErrPreconditionFailed()
    })
    await rejection(rename('three'), ErrPreconditionFailed)
    expect((await tasks.list({}, { context })).items.map(({ id }) => id)).to.deep.equal(['a', 'made'])
    expect((await tasks.get('a', { context })).title).to.equal('two')
  })

  // better-sqlite3 waits for the other connection's lock in the thread that would release it.
  if (name === 'sqlite')
    it('counts each of many writes of two processes', async () => {
      const each = (repository: TypeormRepository<CountedTask>, name: string) =>
        Array.from({ length: 20 }, (_, i) =>
          repository.update('a', { note: `${name} ${i}` }, ['note'], { context }),
        )
      await Promise.all([...each(tasks, 'here'), ...each(others, 'there')])
      expect((await tasks.get('a', { context })).revision).to.equal(41)
    })

  it('runs afterCommit once, after the write', async () => {
    const order: string[] = []
    doing.push(() => RequestContext.current().afterCommit(() => order.push('after')))
    await rename('two')
    expect(order).to.deep.equal(['after'])
  })

  describe('of an entity with events', () => {
    const all = async <T>(text: string) => (await opened[0]?.query(text)) as T[]
    const events = async () =>
      (await all<{ event_type: string }>('SELECT event_type FROM outbox ORDER BY position')).map(
        ({ event_type }) => event_type,
      )
    const rows = () => all<{ id: string; title: string; revision: number }>('SELECT * FROM told_tasks')

    beforeEach(async () => {
      await opened[0]?.query('DELETE FROM told_tasks')
      await told.create({ id: 'a', title: 'one' }, { context })
      await opened[0]?.query('DELETE FROM outbox')
      sent = []
    })

    const writes = {
      create: ['told_task.created', () => told.create({ id: 'b', title: 'new' }, { context })],
      update: ['told_task.updated', () => told.update('a', { title: 'two' }, ['title'], { context })],
      delete: ['told_task.deleted', () => told.delete('a', { context })],
    } as const

    for (const [operation, [type, write]] of Object.entries(writes)) {
      it(`writes one event in the transaction of a ${operation}`, async () => {
        await write()
        expect(await events()).to.deep.equal([type])
        expect([sent[0], sent.at(-1)]).to.deep.equal(['BEGIN', 'COMMIT'])
        expect(sent.filter((word) => word === 'BEGIN' || word === 'COMMIT')).to.have.lengthOf(2)
      })

      it(`keeps nothing of a ${operation} whose event cannot be written`, async () => {
        const before = await rows()
        await opened[0]?.query(
          `CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
        )
        try {
          await rejection<AshlarError>(write(), AshlarError)
        } finally {
          await opened[0]?.query('DROP TRIGGER full')
        }
        expect(await events()).to.deep.equal([])
        expect(await rows()).to.deep.equal(before)
        await write()
        expect(await events()).to.deep.equal([type])
      })
    }

    it('writes one event for an undelete', async () => {
      await told.delete('a', { context })
      await told.undelete('a', { context })
      expect(await events()).to.deep.equal(['told_task.deleted', 'told_task.undeleted'])
      expect(sent.filter((word) => word === 'BEGIN' || word === 'COMMIT')).to.have.lengthOf(4)
    })
  })
})
