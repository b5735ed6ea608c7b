import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { AshlarError, ErrConflict, ErrNotFound, Internal, InvalidArgument } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { SQLITE_OUTBOX } from '../../../lib/persistence/outbox/sql/outbox-tables.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { newDev } from '../../../lib/secrets/index.js'
import {
  backends,
  describeOn,
  coalesced,
  type OpenBackend,
  pooled,
} from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { drilling } from '../../support/drill.js'
import { rejection } from '../../support/rejection.js'
import { collated } from '../repository/open-subject.js'
import { type Mark as MarkOf, NUMBERED, seen, type Step, type Ticket } from './numbered.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'

type Tickets = Repository<Ticket, PartValue> & {
  revealPin(key: PartValue): Promise<string | undefined>
}
type Steps = Repository<Step, PartValue>

const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
const asAcme = <T>(fn: () => Promise<T>): Promise<T> => as('acme', fn)
const encryptor = newDev(Buffer.alloc(32, 7))

describeOn('numbers that the database mints', [...backends, ...coalesced, ...pooled], (backend) => {
  const asked = NUMBERED.filter((_, at) => drilling || isAskedOn(backend.name, at))
  const entities = asked.flatMap(({ Ticket, Step, Mark }) => [Ticket, Step, Mark])
  let opened: OpenBackend
  let shared = new MemoryDatabase()

  const on = <E extends object>(entity: new () => E, options: object = {}): unknown =>
    opened.dataSource === undefined
      ? new (memoryRepositoryOf(entity))({ database: shared, encryptor, ...options })
      : new (repositoryOf(entity))(opened.dataSource, { encryptor, ...options })

  before(async () => {
    opened = await backend.open(entities)
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) return
    await createTables(collated(dataSource, backend), entities, database.dialect.name)
    await applyBaseline(dataSource)
    if (database.dialect.ddl.migration === undefined) await dataSource.query(SQLITE_OUTBOX)
  })
  after(() => opened.close())

  it('creates tables without differences from the model', async () => {
    const { dataSource } = opened
    if (dataSource === undefined || !['postgres', 'mariadb'].includes(backend.name)) return
    const live = liveSchemaOf(dataSource)
    const compared = schemaComparison(entities)
    expect(await compared(live)).to.deep.equal([])
    const { table } = resourceModel(entities[0] as new () => object)
    const change = (text: string) => dataSource.query(text)
    if (backend.name !== 'postgres') return
    await change(`ALTER TABLE ${table} ALTER id DROP IDENTITY`)
    const [found, ...others] = await compared(live)
    expect(others).to.deep.equal([])
    expect(found).to.include({ kind: 'unminted', table, column: 'id' })
    await change(`CREATE SEQUENCE ${table}_old`)
    await change(`ALTER TABLE ${table} ALTER id SET DEFAULT nextval('${table}_old')`)
    expect(await compared(live)).to.deep.equal([])
    await change(`ALTER TABLE ${table} ALTER id DROP DEFAULT`)
    for (const text of (/: (ALTER .*)$/.exec(found?.detail ?? '')?.[1] ?? '').split('; ')) await change(text)
    expect(await compared(live)).to.deep.equal([])
  })

  for (const { name, valueOf, Ticket, Step, Mark } of asked)
    describe(`of the type ${name}`, () => {
      const { keys, table } = resourceModel(Ticket)
      let tickets: Tickets
      let steps: Steps

      const made = (title: string) => ({ title }) as Ticket
      const next = (key: PartValue, more = 1): PartValue => valueOf(Number(key) + more)
      const told = async (): Promise<string[]> =>
        opened.dataSource === undefined
          ? [...shared.outbox.events.values()].map(({ aggregateId }) => aggregateId)
          : (
              (await opened.dataSource.query(
                'SELECT aggregate_id FROM outbox ORDER BY position',
              )) as readonly { readonly aggregate_id: string }[]
            ).map(({ aggregate_id: key }) => key)

      beforeEach(async () => {
        const { dataSource } = opened
        shared = new MemoryDatabase()
        tickets = on(Ticket) as Tickets
        steps = on(Step) as Steps
        for (const place of [resourceModel(Step).table, table, 'outbox'])
          await dataSource?.query(`DELETE FROM ${place}`)
        seen.length = 0
      })

      it('counts up, and reads, lists and writes by the number', () =>
        asAcme(async () => {
          const first = await tickets.create(made('a'))
          const second = await tickets.create(made('b'))
          expect(typeof first.id).to.equal(typeof valueOf(1))
          expect(second.id).to.equal(next(first.id))
          expect(await tickets.get(first.id)).to.deep.equal(first)
          expect((await tickets.list({ pageSize: 1 })).items).to.deep.equal([first])
          const updated = await tickets.update(second.id, { title: 'c' }, ['title'], { ifMatch: second.etag })
          expect(updated).to.include({ id: second.id, title: 'c' })
          await tickets.delete(first.id)
          expect(await tickets.undelete(first.id)).to.include({ title: 'a' })
          await tickets.batchDelete([second.id, first.id])
          const texts = [first, second].map((one) => keys.textOf(one)) as [string, string]
          expect((await told()).slice(0, 5)).to.deep.equal([...texts, texts[1], texts[0], texts[0]])
          expect(seen).to.deep.equal([
            ['before', 'a', undefined],
            ['after', 'a', first.id],
            ['before', 'b', undefined],
            ['after', 'b', second.id],
          ])
        }))

      it('rejects a number that a caller chooses', async () => {
        const most = keys.keyOf(name === 'smallint' ? '32767' : '2147483647') as PartValue
        for (const id of [most, valueOf(0), valueOf(5)]) {
          const refused = () => tickets.create({ ...made('a'), id })
          await asAcme(() => rejection(refused(), InvalidArgument, 'id'))
          await RequestContext.asSystem({ tenant: 'acme' }, () => rejection(refused(), InvalidArgument, 'id'))
        }
        expect(() => on(Ticket, { newKey: () => valueOf(5) })).to.throw(TypeError, 'newKey')
        expect(await told()).to.deep.equal([])
      })

      it('keeps numbers of each tenant apart', async () => {
        const mine = await asAcme(() => tickets.create(made('a')))
        await as('umbrella', async () => {
          await rejection(tickets.get(mine.id), ErrNotFound)
          await rejection(tickets.update(mine.id, { title: 'x' }, ['title']), ErrNotFound)
          await rejection(tickets.delete(mine.id), ErrNotFound)
          await rejection(tickets.batchGet([mine.id]), ErrNotFound)
          await rejection(tickets.batchDelete([mine.id]), ErrNotFound)
          await rejection(steps.create({ ticketId: mine.id } as Step), InvalidArgument, 'ticket_id')
          const theirs = await tickets.create(made('a'))
          expect(theirs.id).to.equal(next(mine.id))
        })
        expect(await RequestContext.asSystem(() => tickets.get(mine.id))).to.include({ accountId: 'acme' })
        await asAcme(() => rejection(tickets.create(made('a')), ErrConflict))
      })

      it('returns to each of many callers the number of its own row', async () => {
        const all = await Promise.all(
          Array.from({ length: 40 }, (_, n) => {
            const tenant = n % 2 === 0 ? 'acme' : 'umbrella'
            return as(tenant, async () => ({
              ...(await tickets.create(made(`t${n}`))),
              tenant,
              title: `t${n}`,
            }))
          }),
        )
        expect(new Set(all.map((one) => keys.textOf(one))).size).to.equal(40)
        await Promise.all(
          all.map(({ tenant, title, id }) =>
            as(tenant, async () => expect(await tickets.get(id)).to.include({ title, accountId: tenant })),
          ),
        )
        expect(new Set(await told())).to.deep.equal(new Set(all.map((one) => keys.textOf(one))))
      })

      it('does not reuse a number after a delete or a rollback', () =>
        asAcme(async () => {
          const marks = on(Mark) as Repository<MarkOf, PartValue>
          const first = await marks.create({})
          expect(await marks.get(first.id)).to.deep.equal(first)
          await marks.delete(first.id)
          const second = await marks.create({})
          expect(second.id).to.equal(next(first.id))
          const again = made('rolled back')
          await tickets
            .transaction(async () => {
              await tickets.create(again)
              await marks.create({})
              throw new RangeError('on purpose')
            })
            .catch(() => {})
          const third = await marks.create({})
          expect(Number(third.id)).to.be.greaterThan(Number(second.id))
          expect(await told()).to.deep.equal([])
          expect((await tickets.list()).items).to.deep.equal([])
          // What was created once has no number of that time.
          expect(await tickets.create(again)).to.include({ title: 'rolled back' })
        }))

      it('uses the next number in a dry run too, whatever rule the table has', () =>
        asAcme(async () => {
          const { id } = await tickets.create(made('a'))
          const context = RequestContext.current().with({ validateOnly: true })
          await tickets
            .transaction(
              async (inside) => {
                await rejection(tickets.create(made('a'), { context: inside }), ErrConflict)
                throw new RangeError('on purpose')
              },
              { context },
            )
            .catch(() => {})
          await tickets
            .transaction(
              async (inside) => {
                const tried = await tickets.create(made('b'), { context: inside })
                expect(Number(tried.id)).to.be.greaterThan(Number(id))
                await steps.create({ ticketId: tried.id } as Step, { context: inside })
                throw new RangeError('on purpose')
              },
              { context },
            )
            .catch((error: unknown) => expect(error).to.be.instanceOf(RangeError))
          const after = await tickets.create(made('b'))
          expect(Number(after.id)).to.be.greaterThan(Number(id))
        }))

      it('is held by references, and binds no secret', () =>
        asAcme(async () => {
          const ticket = await tickets.create({ ...made('a'), pin: '1234' })
          expect(await tickets.revealPin(ticket.id)).to.equal('1234')
          const first = await steps.create({ ticketId: ticket.id } as Step)
          const second = await steps.create({ ticket: { id: ticket.id }, nextId: first.id } as Step)
          const read = (await tickets.get(ticket.id, { with: ['steps'] })) as Ticket
          expect(read.steps?.map((step) => step.id)).to.deep.equal([first.id, second.id])
          const missing = next(ticket.id, 100)
          await rejection(steps.create({ ticketId: missing } as Step), InvalidArgument, 'ticket_id')
          await steps.delete(first.id)
          expect(await steps.get(second.id)).to.include({ nextId: undefined })
          await rejection(tickets.get(missing), ErrNotFound)
          const gone = next(second.id, 1)
          await rejection(steps.update(second.id, { nextId: gone }, ['next_id']), InvalidArgument, 'next_id')
        }))

      it('ends at the maximum of the type: no row gets a larger number', async () => {
        const { dataSource } = opened
        const most = MOST[name] ?? '9223372036854775807'
        if (dataSource === undefined) return
        await asAcme(() => tickets.create(made('a')))
        await dataSource.query(endsAt(backend.name, table, most))
        await asAcme(async () => {
          const refused = await Promise.all(
            ['b', 'c'].map((title) =>
              tickets.create(made(title)).then(keys.textOf, (error: unknown) => error),
            ),
          )
          // SQLite reports the end of 64 bits as a full disk.
          const errors = refused.filter((one) => one !== most)
          expect(errors.every((one) => one instanceof AshlarError)).to.equal(true)
          expect(errors).to.not.have.length(0)
          const { items } = await tickets.list()
          expect(items.filter((one) => !keys.isKey(keys.textOf(one)))).to.deep.equal([])
          for (const one of items) expect(await tickets.get(one.id)).to.deep.equal(one)
          expect((await told()).toSorted()).to.deep.equal(items.map((one) => keys.textOf(one)).toSorted())
        })
        await dataSource.query(`DELETE FROM ${table}`)
        await dataSource.query(endsAt(backend.name, table, '1000'))
      })

      it('does not blame the caller for a number that a row already has', async () => {
        if (backend.name !== 'postgres') return
        await asAcme(async () => {
          const { id } = await tickets.create(made('a'))
          await opened.dataSource?.query(
            `SELECT setval(pg_get_serial_sequence('${table}', 'id'), ${String(id)}, false)`,
          )
          await rejection(tickets.create(made('b')), Internal)
        })
      })
    })
})

/** The last number of a type that has fewer than 64 bits. */
const MOST: Readonly<Record<string, string>> = {
  smallint: '32767',
  int: '2147483647',
  'unsigned int': '4294967295',
}

/** Makes the number the last one that the database has minted, or on MariaDB the next one that it mints. */
function endsAt(name: string, table: string, number: string): string {
  if (name === 'postgres' || name === 'pgbouncer')
    return `SELECT setval(pg_get_serial_sequence('${table}', 'id'), ${number})`
  return name === 'mariadb' || name === 'mysql8'
    ? `ALTER TABLE ${table} AUTO_INCREMENT = ${number}`
    : `UPDATE sqlite_sequence SET seq = ${number} WHERE name = '${table}'`
}

/** In `npm test` the engines that are servers share the types; in memory and on SQLite each is tried. */
function isAskedOn(name: string, at: number): boolean {
  const server = ['postgres', 'mariadb', 'mysql8', 'pgbouncer'].indexOf(name)
  return server < 0 || (at + server) % 2 === 0
}
