import { expect } from 'chai'
import { type DataSource, Column, Entity, PrimaryColumn, Unique } from 'typeorm'
import {
  Credential,
  Emits,
  ETag,
  Expirable,
  Resource,
  Secret,
  SoftDeletable,
  Tags,
  TenantScoped,
  UpdateTime,
} from '../../decorators/index.js'
import { outboxStoreOf } from '../../lib/events/store/outbox-store.js'
import type { LoggedEvent } from '../../lib/events/log/event-log.js'
import { received } from '../../lib/events/consumer/received-event.js'
import { RequestContext } from '../../lib/context.js'
import { ErrConflict, ErrNotFound } from '../../lib/errors.js'
import type { ListOptions } from '../../lib/persistence/contract/repository.js'
import type { Database } from '../../lib/persistence/engines/executor/executor.js'
import { sqlText } from '../../lib/persistence/engines/sql-text.js'
import { MemoryDatabase } from '../../lib/persistence/memory/memory-database.js'
import { OutboxWriter } from '../../lib/persistence/outbox/sql/outbox-writer.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { omittedReply, type StoredReply } from '../../lib/server/idempotency/idempotency-store.js'
import { SqlIdempotencyStore } from '../../lib/server/idempotency/sql-idempotency-store.js'
import { type Backend, backends, describeOn } from '../support/databases/backends.js'
import { applyBaseline } from '../support/databases/baseline.js'
import { run } from '../support/databases/statement.js'
import { goldenIn } from '../support/golden.js'
import { rejection } from '../support/rejection.js'
import { collated } from '../conformance/repository/open-subject.js'
import { subjectOptions } from '../conformance/repository/subject.js'

@Resource()
@Entity('crates')
@Unique(['code'])
@TenantScoped()
@SoftDeletable()
@Expirable()
@Emits({ include: 'before' })
class Crate {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) code!: string
  @Column({ type: 'int' }) size!: number
  @Column({ type: 'bigint', nullable: true }) weight?: bigint
  @Column({ type: 'double precision', nullable: true }) score?: number
  @Column({ nullable: true }) dueTime?: Date
  @Column({ type: 'simple-json', nullable: true }) origin?: { quarry: string }
  @Tags() tags!: Record<string, string>
  @UpdateTime({ filterable: true }) updateTime!: Date
  @ETag() etag!: string
  @Secret() pin?: Secret
  @Credential() token?: Credential
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

const options = { ...subjectOptions, now: () => new Date('2026-03-04T05:06:07.089Z') }

interface Opened {
  readonly dataSource: DataSource | undefined
  readonly database: Database | undefined
  readonly memory: MemoryDatabase
  crates(more?: { paging?: 'offset'; pageTokenKey?: string }): Crates
  close(): Promise<void>
}

type Crates =
  | InstanceType<ReturnType<typeof repositoryOf<Crate>>>
  | InstanceType<ReturnType<typeof memoryRepositoryOf<Crate>>>

async function open(backend: Backend): Promise<Opened> {
  const { dataSource, database, close } = await backend.open([Crate])
  const memory = new MemoryDatabase()
  const inMemory = new (memoryRepositoryOf(Crate))({ ...options, database: memory })
  if (dataSource === undefined || database === undefined)
    return { dataSource, database, memory, close, crates: () => inMemory }
  await applyBaseline(dataSource)
  await createTables(collated(dataSource, backend), [Crate], database.dialect.name)
  const crates: Opened['crates'] = (more) => new (repositoryOf(Crate))(dataSource, { ...options, ...more })
  return { dataSource, database, memory, close, crates }
}

const inAcme = <T>(fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

/** The statement of one who reads what is stored without the framework. */
const rowsOf = async ({ database }: Opened, text: string): Promise<unknown[][]> =>
  (await run(database as Database, text)).rows.map((row) => row.map(asText))

const asText = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value

const LISTS: readonly ListOptions<Crate>[] = [
  {},
  { orderBy: 'size desc' },
  { orderBy: 'weight, score desc' },
  { orderBy: 'due_time desc' },
  { orderBy: 'update_time', filter: 'size > 0' },
  { orderBy: 'score, code desc', showDeleted: true },
]

/** Of an event: who reads it takes these as they are, and no test can know them. */
const UNKNOWN = /"(id|time|etag)":"[^"]{16,}"/g

// What is stored, or in the hands of clients, while a process is replaced by one of the next version.
describeOn('what one version stores and the next one reads', backends, (backend) => {
  let opened: Opened
  let crates: Crates

  before(async () => {
    opened = await open(backend)
    crates = opened.crates()
  })
  after(() => opened?.close())

  const filled = async () => {
    for (const [i, id] of ['a', 'b', 'c'].entries())
      await crates.create({
        ...{
          id,
          code: `code ${id}`,
          size: i + 1,
          origin: { quarry: 'x"y' },
          tags: { env: 'é' },
          pin: 'secret',
        },
        ...(i === 2
          ? {}
          : {
              weight: 2n ** 53n + BigInt(i),
              score: i / 10,
              dueTime: new Date(Date.UTC(2026, 0, 1, 0, 0, 0, i)),
            }),
      })
  }

  before(() => inAcme(filled))

  it('is page tokens', () =>
    inAcme(async () => {
      const golden = goldenIn<string>('stored/page-tokens.txt')
      const repositories: Record<string, Crates> = { keyset: crates }
      if (opened.dataSource !== undefined) {
        repositories.signed = opened.crates({ pageTokenKey: 'a key that signs' })
        repositories.offset = opened.crates({ paging: 'offset' })
      }
      for (const [kind, repository] of Object.entries(repositories))
        for (const list of LISTS) {
          const name = `${kind} ${JSON.stringify(list)}`
          const all = await repository.list(list)
          const first = await repository.list({ ...list, pageSize: 1 })
          const pageToken = golden.expect(name, first.nextPageToken)
          const second = await repository.list({ ...list, pageSize: 1, pageToken })
          expect(second.items, name).to.deep.equal([all.items[1]])
        }
    }))

  it('is events', () =>
    inAcme(async () => {
      const store = outboxStoreOf(opened.dataSource ?? opened.memory)
      await RequestContext.current()
        .with({ requestId: 'request 1' })
        .run(async () => {
          await crates.update('a', { size: 9, pin: 'another' }, ['size', 'pin'])
          await crates.batchUpdate([{ key: 'b', entity: { origin: { quarry: '' } }, fieldMask: ['origin'] }])
          await crates.delete('a')
          await crates.undelete('a')
          await crates.batchDelete(['c'])
          await crates.undelete('c')
        })
      const golden = goldenIn<string>('stored/events.txt')
      const told = await firstOf(store.log.read(0, new AbortController().signal), 9)
      for (const [i, { payload }] of told.entries())
        golden.expect(`${i}`, payload.toString().replace(UNKNOWN, '"$1":"…"'))
      const kept = Object.values(golden.all).map((text, i) =>
        rowIn(
          text
            .replace('"id":"…"', `"id":"kept ${i}"`)
            .replace('"time":"…"', '"time":"2026-03-04T05:06:07.089Z"'),
        ),
      )
      if (opened.database === undefined)
        await opened.memory.perform(undefined, 'test', ({ write }) =>
          write((log) => opened.memory.outbox.append(kept, log)),
        )
      else await OutboxWriter.of(opened.database).append(opened.database, kept)
      const after = told.at(-1)?.position ?? 0
      const read = goldenIn<unknown>('stored/events-received.txt')
      for (const event of await firstOf(store.log.read(after, new AbortController().signal), kept.length))
        read.expect(event.id, JSON.parse(JSON.stringify(received({ ...event, seq: 0 }))))
    }))

  it('is markers of events that are done', async () => {
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) return
    const golden = goldenIn<string>('stored/markers.txt')
    const { now } = sqlText(database)
    const store = outboxStoreOf(dataSource)
    const mark = (consumer: string, tenant: string, id: string) =>
      store.transaction(new RequestContext(), (inside) => store.markers(consumer, 0).mark(inside, tenant, id))
    await store.log.ends()
    const key = database.dialect.text.quote('key')
    const only = async (marker: string) => {
      await run(database, 'DELETE FROM idempotency_markers')
      await run(database, `INSERT INTO idempotency_markers (${key}, created_time) VALUES (?, ${now})`, [
        marker,
      ])
    }
    const ids = { short: 'event-1', long: 'é'.repeat(200), nul: 'a\0b' }
    for (const [name, id] of Object.entries(ids)) {
      await run(database, 'DELETE FROM idempotency_markers')
      expect(await mark('mailer', 'acme', id)).to.equal(true)
      const [[stored] = []] = await rowsOf(opened, `SELECT ${key} FROM idempotency_markers`)
      const kept = golden.expect(`${name} of a tenant`, String(stored))
      await only(kept)
      expect(await mark('mailer', 'acme', id), name).to.equal(false)
      expect(await mark('other', 'acme', id), name).to.equal(true)
      expect(await mark('mailer', 'umbrella', id), name).to.equal(true)
      // A marker of before 0.1.0 holds no tenant.
      await only(golden.all[name] ?? '')
      expect(await mark('mailer', 'acme', id), name).to.equal(false)
      expect(await mark('other', 'acme', id), name).to.equal(true)
    }
    await run(database, 'DELETE FROM idempotency_markers')
  })

  it('is responses of calls that are repeated', async () => {
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) return
    const golden = goldenIn<unknown[]>('stored/idempotency-keys.txt')
    const { later, now } = sqlText(database)
    const store = new SqlIdempotencyStore(dataSource)
    const whole: StoredReply = {
      type: 'acme.v1.Crate',
      message: Buffer.from('not "really" é\n'),
      headers: [['etag', '"1"']],
      trailers: [['x-a', 'b']],
    }
    const omitted = omittedReply('size')
    for (const [name, reply] of Object.entries({ whole, omitted })) {
      const key = {
        tenant: 'acme',
        subject: 'ada',
        method: '/acme.v1.Crates/CreateCrate',
        requestId: `${name} \0 é`,
      }
      const claimed = await store.claim(key, 'f'.repeat(64), 1000)
      if (claimed.state !== 'claimed') return expect.fail(claimed.state)
      await claimed.claim.complete(reply, new RequestContext())
      const columns = 'account_id, subject, method, request_id, status, response_type, response, fingerprint'
      const [stored = []] = await rowsOf(
        opened,
        `SELECT ${columns.replace('response,', `${bytes(opened)},`)} FROM idempotency_keys`,
      )
      const kept = golden
        .expect(name, stored)
        .map((value, i) => (i === 6 ? Buffer.from(String(value)) : value))
      await run(database, 'DELETE FROM idempotency_keys')
      await run(
        database,
        `INSERT INTO idempotency_keys (${columns}, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${later}, ${now})`,
        [...kept, 3_600_000],
      )
      const found = await store.claim(key, 'f'.repeat(64), 1000)
      if (found.state !== 'done') return expect.fail(found.state)
      expect({ ...found.reply, message: Buffer.from(found.reply.message) }, name).to.deep.equal({
        ...reply,
        message: Buffer.from(reply.message),
      })
      expect(found.fingerprint).to.equal('f'.repeat(64))
      await run(database, 'DELETE FROM idempotency_keys')
    }
  })

  it('is soft_delete_key, where unique indexes have no condition', () =>
    inAcme(async () => {
      const { database } = opened
      if (database?.dialect.can.partialIndexes !== false) return
      const golden = goldenIn<unknown[][]>('stored/soft-delete-key.txt')
      const keys = () => rowsOf(opened, 'SELECT id, soft_delete_key FROM crates ORDER BY id')
      golden.expect('live', await keys())
      await crates.delete('a')
      await crates.batchDelete(['b'])
      const kept = golden.expect('deleted', await keys())
      await crates.undelete('a')
      golden.expect('undeleted', await keys())
      for (const [id, key] of kept) {
        const { deleteTime, updateTime } = crates.model
        const time = key === '' ? 'NULL' : String(updateTime?.column)
        const text = `UPDATE crates SET soft_delete_key = ?, ${deleteTime?.column} = ${time} WHERE id = ?`
        await run(database, text, [key, id])
      }
      await rejection(crates.get('a'), ErrNotFound)
      const again = { code: 'code a', size: 1, tags: {} }
      await crates.create({ ...again, id: 'd' })
      await rejection(crates.undelete('a'), ErrConflict)
    }))
})

const bytes = ({ database }: Opened): string =>
  database?.dialect.name === 'postgres' ? "convert_from(response, 'UTF8')" : 'response'

async function firstOf(events: AsyncGenerator<LoggedEvent>, count: number): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = []
  for await (const event of events) if (found.push(event) === count) break
  return found
}

const rowIn = (text: string) => {
  const { id, accountid, type, partitionkey } = JSON.parse(text) as Record<string, string>
  return {
    id: id as string,
    accountId: accountid as string,
    aggregateType: String(type).split('.')[0] as string,
    aggregateId: partitionkey as string,
    eventType: type as string,
    payload: Buffer.from(text),
  }
}
