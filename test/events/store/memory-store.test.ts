import { expect } from 'chai'
import { DeadlineExceeded, ErrNotFound, PermissionDenied } from '../../../lib/errors.js'
import { consumer, type ConsumerOptions, type EventHandler } from '../../../lib/events/consumer/consumer.js'
import type { ReceivedEvent } from '../../../lib/events/consumer/received-event.js'
import type { EventWorker } from '../../../lib/events/following/event-worker.js'
import { Outbox } from '../../../lib/events/following/outbox.js'
import type { LoggedEvent } from '../../../lib/events/log/event-log.js'
import { forgetNames } from '../../../lib/events/following/worker-names.js'
import { relay } from '../../../lib/events/relay/relay.js'
import { MemoryStore } from '../../../lib/events/store/memory-store.js'
import { emit } from '../../../lib/persistence/emit.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { caughtUp } from '../../../lib/testing/index.js'
import { asTenant, inAcme } from '../../conformance/repository/subject.js'
import { rejection } from '../../support/rejection.js'
import { Counter } from '../outbox-subject.js'
import { until } from '../../support/until.js'

class Stop extends Error {}

describe('relays and consumers of a database in memory', () => {
  let database: MemoryDatabase
  let counters: InstanceType<ReturnType<typeof memoryRepositoryOf<Counter>>>
  let outbox: Outbox
  let events: ReceivedEvent[]
  let workers: EventWorker[]
  beforeEach(() => {
    database = new MemoryDatabase()
    counters = new (memoryRepositoryOf(Counter))({ database })
    outbox = new Outbox(database)
    ;[events, workers] = [[], []]
  })
  afterEach(() => Promise.all(workers.map((worker) => worker.drain())))

  const begun = (worker: EventWorker) => {
    workers.push(worker)
    worker.start()
    return worker
  }
  const consuming = (handler: EventHandler, options: Partial<ConsumerOptions> = {}) =>
    begun(
      consumer({ name: 'test', dataSource: database, onFailure: () => {}, ...options }, (event, context) => {
        events.push(event)
        return handler(event, context)
      }),
    )
  const nothing = () => Promise.resolve()
  const told = () => events.map(({ type, key }) => `${type} ${key}`)
  const tell = (key: string) =>
    inAcme(() => database.transaction(() => emit({ resource: 'thing', verb: 'told', key })))

  it('give a consumer each committed change in its order, and none that was rolled back', async () => {
    const worker = consuming(nothing)
    await inAcme(() => counters.create({ id: 'a', number: 1 }))
    await rejection(
      inAcme(() =>
        database.transaction(async () => {
          await counters.update('a', { number: 99 }, ['number'])
          await emit({ resource: 'thing', verb: 'told', key: 'gone' })
          throw new Stop()
        }),
      ),
      Stop,
    )
    await inAcme(() =>
      database.transaction(async () => {
        await counters.update('a', { number: 2 }, ['number'])
        await rejection(
          database.transaction(async () => {
            await counters.update('a', { number: 98 }, ['number'])
            throw new Stop()
          }),
          Stop,
        )
        await emit({ resource: 'thing', verb: 'told', key: 'kept' })
      }),
    )
    await rejection(
      inAcme(() => counters.update('nowhere', { number: 3 }, ['number'])),
      ErrNotFound,
    )
    await caughtUp(worker)
    expect(told().sort()).to.deep.equal(['counter.created a', 'counter.updated a', 'thing.told kept'])
    expect(await outbox.status()).to.deep.include({ last: 3, unsequenced: 0 })
  })

  it('keep an event from a consumer until its transaction is committed', async () => {
    const worker = consuming(nothing)
    await caughtUp(worker)
    await inAcme(() =>
      database.transaction(async () => {
        await emit({ resource: 'thing', verb: 'told', key: 'open' })
        database.outbox.wakeUp.wake()
        await new Promise((resolve) => setTimeout(resolve, 60))
        expect(events).to.deep.equal([])
      }),
    )
    await caughtUp(worker)
    expect(told()).to.deep.equal(['thing.told open'])
  })

  it('take back what a handler has done that fails', async () => {
    let failures = 0
    const worker = consuming(
      async ({ key }) => {
        await counters.create({ id: `of-${key}`, number: 1 })
        if (failures++ < 2) throw new Stop()
      },
      { subject: { resource: 'thing' } },
    )
    await tell('a')
    await caughtUp(worker)
    expect(events).to.have.length(3)
    expect((await inAcme(() => counters.list())).items.map(({ id }) => id)).to.deep.equal(['of-a'])
  })

  it('note in a transaction that an event is done, once for each consumer', async () => {
    const store = MemoryStore.of(database)
    const mark = (name: string, tenant = 'acme') =>
      database.transaction((inside) => store.markers(name).mark(inside, tenant, 'e-1'))
    await rejection(
      database.transaction(async (inside) => {
        expect(await store.markers('one').mark(inside, 'acme', 'e-1')).to.equal(true)
        throw new Stop()
      }),
      Stop,
    )
    expect([await mark('one'), await mark('one'), await mark('other')]).to.deep.equal([true, false, true])
    expect([await mark('one', 'umbrella'), await mark('one', '')]).to.deep.equal([true, true])
    await store.markers('one').removeAll()
    expect([await mark('one'), await mark('other')]).to.deep.equal([true, false])
  })

  it('act for the tenant of the event, and have no SQL', async () => {
    const seen: unknown[] = []
    const worker = consuming(
      async (_, context) => {
        seen.push((await counters.list()).items.map(({ accountId }) => accountId))
        await rejection(emit({ resource: 'x', verb: 'y', key: 'z', tenant: 'third' }), PermissionDenied)
        expect(() => context.sql).to.throw(TypeError, 'SqliteDataSource')
        seen.push(context.principal.subject)
      },
      { subject: { resource: 'counter' } },
    )
    await asTenant('other', () => counters.create({ id: 'theirs', number: 1 }))
    await inAcme(() => counters.create({ id: 'mine', number: 1 }))
    await caughtUp(worker)
    expect(seen).to.deep.equal([['other'], 'consumer:test', ['acme'], 'consumer:test'])
    expect(await outbox.deadLetters()).to.deep.equal([])
  })

  it('give up an event after some tries, and try it again when they are asked to', async () => {
    let isPoison = true
    const worker = consuming(
      ({ key }) => (isPoison && key === 'bad' ? Promise.reject(new Stop('poison')) : Promise.resolve()),
      { maxAttempts: 2 },
    )
    for (const key of ['bad', 'good']) await tell(key)
    await caughtUp(worker)
    const [letter, ...others] = await outbox.deadLetters({ cursor: 'consumer:test' })
    expect(others).to.deep.equal([])
    expect(letter).to.deep.include({
      eventType: 'thing.told',
      reason: 'Error: poison',
      cursor: 'consumer:test',
    })
    const [cursor] = (await outbox.status()).cursors
    expect(cursor).to.include({ name: 'consumer:test', position: 2, lag: 0, deadLetters: 1, isRunning: true })
    isPoison = false
    expect(await outbox.replay('consumer:test', 99)).to.equal(0)
    expect(await outbox.replay('consumer:test')).to.equal(1)
    await until(async () => (await outbox.deadLetters()).length === 0)
    expect(told().at(-1)).to.equal('thing.told bad')
  })

  it('relay to a sink, remove what everybody has done, and stand by for one another', async () => {
    const delivered: LoggedEvent[] = []
    const sink = {
      deliver: (event: LoggedEvent) => Promise.resolve(void delivered.push(event)),
      close: () => Promise.resolve(),
    }
    const [one, other] = [relay({ dataSource: database, sink }), relay({ dataSource: database, sink })]
    begun(one)
    await tell('a')
    await caughtUp(one)
    expect(() => begun(other)).to.throw(TypeError, 'two relays of this process are named "nats"')
    forgetNames(database)
    begun(other)
    expect([(await one.status()).isLeading, (await other.status()).isLeading]).to.deep.equal([true, false])
    await rejection(outbox.forget('relay:nats'), Error, 'is running')
    await one.drain()
    await tell('b')
    await caughtUp(other)
    expect(delivered.map(({ key, position }) => `${position} ${key}`)).to.deep.equal(['1 a', '2 b'])
    await until(() => database.outbox.events.size === 0)
    await other.drain()
    expect(await outbox.forget('relay:nats')).to.equal(true)
    expect((await outbox.status()).cursors).to.deep.equal([])
    expect(() => relay({ dataSource: database, sink, listenDsn: 'postgres://x' })).to.throw(
      TypeError,
      'LISTEN',
    )
  })

  it('count nothing that was removed before a consumer was new', async () => {
    const sink = { deliver: nothing, close: nothing }
    const first = begun(relay({ dataSource: database, sink }))
    for (const key of ['a', 'b']) await tell(key)
    await caughtUp(first)
    await until(() => database.outbox.events.size === 0)
    const worker = consuming(nothing)
    await caughtUp(worker)
    await tell('c')
    await caughtUp(worker)
    expect(told()).to.deep.equal(['thing.told c'])
  })

  it('say who is behind', async () => {
    const worker = consumer({ name: 'idle', dataSource: database }, nothing)
    await tell('a')
    await rejection(
      caughtUp(worker, 30),
      DeadlineExceeded,
      'consumer:idle still has 1 unprocessed events after 30 ms, and does not run',
    )
  })
})
