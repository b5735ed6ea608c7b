import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { RequestContext } from '../../../lib/context.js'
import { PermissionDenied, Unavailable } from '../../../lib/errors.js'
import { consumer, type ConsumerOptions, type EventHandler } from '../../../lib/events/consumer/consumer.js'
import { Markers } from '../../../lib/events/store/markers.js'
import type { ReceivedEvent } from '../../../lib/events/consumer/received-event.js'
import { Outbox } from '../../../lib/events/following/outbox.js'
import { natsSink } from '../../../lib/events/nats/nats-sink.js'
import type { EventWorker } from '../../../lib/events/following/event-worker.js'
import { forgetNames } from '../../../lib/events/following/worker-names.js'
import { relay } from '../../../lib/events/relay/relay.js'
import { emit } from '../../../lib/persistence/emit.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import { asTenant, inAcme } from '../../conformance/repository/subject.js'
import { type Backend, databases, describeOn } from '../../support/databases/backends.js'
import { needsNats, type TestStream, testStream } from '../../support/databases/on-nats.js'
import { column, run } from '../../support/databases/statement.js'
import { deafen, openOutbox, type OutboxSubject } from '../outbox-subject.js'
import { until } from '../../support/until.js'

const SOURCES = ['the outbox', 'the outbox, which it only polls', 'a stream'] as const

describeOn('a consumer', databases, (backend) => {
  for (const source of SOURCES)
    describe(`that follows ${source}`, () => {
      const holder = subjectOn(backend, source)
      const keys = () => holder.events.map(({ key }) => key)
      const effects = () => column(holder.subject.database, 'SELECT event_id FROM effects')
      const cursor = source === 'a stream' ? 'stream:test' : 'consumer:test'

      it('gets each event, with what it says and whose it is', async () => {
        const contexts: RequestContext[] = []
        holder.consumer({}, (_event, context) => Promise.resolve(contexts.push(context)))
        await holder.subject.tell('a', { data: { at: 1 } })
        await asTenant('other', () => holder.subject.counters.create({ id: 'c', number: 7 }))
        await until(() => holder.events.length === 2)
        const [own, change] = [...holder.events].sort((a, b) => a.key.localeCompare(b.key))
        expect(own).to.deep.include({
          ...{ resource: 'thing', verb: 'told', type: 'thing.told', key: 'a', subject: 'a', tenant: 'acme' },
          ...{ source: '/thing', data: { at: 1 }, isTruncated: false, seq: 0 },
        })
        expect(change).to.deep.include({
          tenant: 'other',
          type: 'counter.created',
          data: { resource: { id: 'c', number: 7, accountId: 'other' } },
        })
        expect(change?.time.getTime()).to.be.closeTo(Date.now(), 60_000)
        const principals = contexts.map(({ principal }) => `${principal.subject} of ${principal.tenant}`)
        expect(principals.sort()).to.deep.equal(['consumer:test of acme', 'consumer:test of other'])
      })

      it('reaches the rows of the tenant of the event, and no other', async () => {
        const { counters } = holder.subject
        await inAcme(() => counters.create({ id: 'mine', number: 1 }))
        await asTenant('other', () => counters.create({ id: 'theirs', number: 2 }))
        const [seen, refused] = [{} as Record<string, unknown>, [] as unknown[]]
        holder.consumer({ subject: { resource: 'thing' } }, async ({ key, tenant }) => {
          const keep = (error: unknown) => void refused.push(error)
          await emit({ resource: 'answer', verb: 'given', key, tenant: 'third' }).catch(keep)
          seen[tenant] = await counters.list().then(({ items }) => items.map(({ id }) => id), keep)
        })
        await holder.subject.tell('a')
        await holder.subject.tell('o', { tenant: 'other' })
        await holder.subject.tell('n', { tenant: '' })
        await until(() => Object.keys(seen).length === 3)
        expect(seen).to.deep.equal({ acme: ['mine'], other: ['theirs'], '': undefined })
        // Three events of another tenant, and the rows of nobody.
        expect(refused).to.have.length(4)
        for (const error of refused) expect(error).to.be.instanceOf(PermissionDenied)
      })

      it('gets the events of its subject only, and is done with the others', async () => {
        const one = holder.consumer({ subject: { tenant: 'acme', resource: 'thing', verb: 'told' } })
        await inAcme(() => holder.subject.counters.create({ id: 'c', number: 1 }))
        await holder.subject.tell('o', { tenant: 'other' })
        await holder.subject.tell('a')
        await holder.subject.tell('n', { tenant: '' })
        await until(async () => holder.events.length === 1 && (await one.status()).lag === 0)
        expect(keys()).to.deep.equal(['a'])
      })

      it('has effects once, however often the event comes', async () => {
        const one = holder.consumer({}, insertEffect)
        for (let at = 0; at < 10; at++) await holder.subject.tell(`k${at % 2}`)
        await until(async () => (await effects()).length === 10)
        await one.drain()
        await run(
          holder.subject.database,
          'UPDATE outbox_dispatch_cursor SET log_position = 0 WHERE name = ?',
          [cursor],
        )
        const again = holder.consumer({}, insertEffect)
        await holder.subject.tell('last')
        await until(async () => (await effects()).length === 11 && (await again.status()).lag === 0)
        expect(new Set(await effects()).size).to.equal(11)
      })

      it('takes back what a failing handler has done, and tries again, before it goes on with the resource', async () => {
        let failures = 0
        holder.consumer({}, async (event, context) => {
          await insertEffect(event, context)
          if (event.key === 'a' && (event.data as { at: number }).at === 0 && failures++ < 3)
            throw new TypeError('not yet')
        })
        for (const [key, at] of [
          ['a', 0],
          ['a', 1],
          ['b', 2],
        ] as const)
          await holder.subject.tell(key, { data: { at } })
        await until(async () => (await effects()).length === 3)
        const order = holder.events.map(({ key, data }) => `${key}${(data as { at: number }).at}`)
        expect(order.filter((one) => one.startsWith('a'))).to.deep.equal(['a0', 'a0', 'a0', 'a0', 'a1'])
        expect(order.indexOf('b2')).to.be.below(order.lastIndexOf('a0'))
      })

      it('gives up an event after some tries, goes on with its resource, and tries again when it is asked to', async () => {
        let isPoison = true
        holder.consumer({ maxAttempts: 2 }, async (event, context) => {
          if (isPoison && (event.data as { at: number }).at === 0) throw new TypeError('it is poison')
          await insertEffect(event, context)
        })
        for (let at = 0; at < 3; at++) await holder.subject.tell('a', { data: { at } })
        await until(async () => (await effects()).length === 2)
        const outbox = new Outbox(holder.subject.dataSource)
        const [letter] = await outbox.deadLetters({ cursor })
        expect(letter).to.include({ cursor, eventType: 'thing.told', reason: 'TypeError: it is poison' })
        isPoison = false
        expect(await outbox.replay(cursor)).to.equal(1)
        await until(async () => (await effects()).length === 3)
        await until(async () => (await outbox.deadLetters()).length === 0)
      })

      it('waits for an outage to pass, and gives nothing up', async () => {
        let isDown = true
        holder.consumer({ maxAttempts: 1 }, async (event, context) => {
          if (isDown) throw new Unavailable('the mail server is down')
          await insertEffect(event, context)
        })
        await holder.subject.tell('a')
        await until(() => holder.events.length > 2)
        isDown = false
        await until(async () => (await effects()).length === 1)
        expect(await new Outbox(holder.subject.dataSource).deadLetters()).to.deep.equal([])
      })

      it('works in one process at a time; what is under way ends when it is drained', async () => {
        let [running, most] = [0, 0]
        const slow: EventHandler = async (event, context) => {
          most = Math.max(most, ++running)
          await pause(150)
          await insertEffect(event, context)
          running--
        }
        const one = holder.consumer({ concurrency: 1 }, slow)
        await until(async () => (await one.status()).isLeading)
        forgetNames(holder.subject.dataSource)
        const other = holder.consumer({ concurrency: 1 }, slow)
        for (let at = 0; at < 6; at++) await holder.subject.tell(`k${at}`)
        await until(() => running === 1)
        await one.drain()
        expect((await effects()).length).to.be.above(0)
        await until(async () => (await effects()).length === 6)
        expect([most, (await other.status()).isLeading]).to.deep.equal([1, true])
        expect(holder.events).to.have.length(6)
      })

      it('does not start beside another consumer of its name in one process', async () => {
        const { dataSource } = holder.subject
        const one = holder.consumer({ name: 'ledger', subject: { resource: 'counter', verb: 'created' } })
        const second = { name: 'ledger', subject: { resource: 'thing' } }
        const problem =
          'two consumers of this process are named "ledger", one for counter.created and one for thing.*'
        expect(() => holder.consumer(second)).to.throw(TypeError, problem)
        const other = consumer({ ...second, dataSource }, () => Promise.resolve())
        expect((await other.startUpCheck()).join()).to.include(problem)
        await one.drain()
        expect(await other.startUpCheck()).to.deep.equal([])
        holder.consumer(second)
        await holder.subject.tell('a')
        await until(() => holder.events.length === 1)
      })

      it('remembers what is done as long as it is told to', async () => {
        const { database } = holder.subject
        const one = holder.consumer({ name: 'test' }, insertEffect)
        await holder.subject.tell('a')
        await until(async () => (await effects()).length === 1)
        await one.drain()
        const marked = () =>
          column(database, `SELECT ${database.dialect.text.quote('key')} FROM idempotency_markers`)
        const [{ id } = { id: '' }] = holder.events
        expect(await marked()).to.deep.equal([`test::acme:${id}`])
        await new Markers(database, 'other', 0).removeOld()
        await new Markers(database, 'test', 60_000).removeOld()
        expect(await marked()).to.have.length(1)
        await pause(5)
        await new Markers(database, 'test', 0).removeOld()
        expect(await marked()).to.deep.equal([])
      })

      it('keeps tenants apart, whatever they are called', async () => {
        const tenants = ['a.b', '*', '>', 'é', '_', 'a', '']
        const got = new Map<string, string[]>()
        for (const [at, tenant] of tenants.entries()) {
          got.set(tenant, [])
          holder.consumer({ name: `of-${at}`, subject: { tenant } }, ({ key }) =>
            Promise.resolve(got.get(tenant)?.push(key)),
          )
        }
        for (const [at, tenant] of tenants.entries()) await holder.subject.tell(`k${at}`, { tenant })
        await until(() => [...got.values()].every((one) => one.length > 0))
        await pause(300)
        expect([...got.values()]).to.deep.equal(tenants.map((_, at) => [`k${at}`]))
      })

      if (source === 'a stream')
        it('leaves out what somebody wrote who may send to another tenant only', async () => {
          holder.consumer({ subject: { tenant: 'acme' } }, insertEffect)
          const { client, options } = holder.stream
          await until(
            async () =>
              (await holder.stream.manager.streams.info(options.stream).catch(() => undefined)) !== undefined,
          )
          const event = { id: 'x', type: 'thing.told', accountid: 'other', partitionkey: 'k', data: {} }
          await client.publish(`${options.prefix}.acme.thing.told`, JSON.stringify(event))
          await client.publish(`${options.prefix}.acme.thing.told`, 'no event')
          await client.publish(
            `${options.prefix}.acme.thing.told`,
            JSON.stringify({ ...event, id: 'y', accountid: 'acme' }),
          )
          await until(() => holder.events.length === 1)
          expect(holder.events.map(({ id }) => id)).to.deep.equal(['y'])
          expect(holder.failures.filter((text) => text.includes('is not an event of'))).to.have.length(1)
        })

      if (source === 'a stream' && ['sqlite', 'postgres', 'mariadb'].includes(backend.name))
        describe('of which a message', () => {
          const send = async (
            tenant: string,
            event: object,
            headers: Readonly<Record<string, string>> = {},
          ) => {
            const { client, options, manager } = holder.stream
            await until(
              async () => (await manager.streams.info(options.stream).catch(() => undefined)) !== undefined,
            )
            const { headers: made } = await import('@nats-io/transport-node')
            const sent = made()
            for (const [name, value] of Object.entries(headers)) sent.set(name, value)
            const whole = { type: 'thing.told', partitionkey: 'k', accountid: tenant, ...event }
            await client.publish(`${options.prefix}.${tenant}.thing.told`, JSON.stringify(whole), {
              headers: sent,
            })
          }

          it('has an id that no column takes holds up nobody, and is a dead letter', async () => {
            const ids = ['a\0b', '\ud800', 'x'.repeat(100_000), 'é'.repeat(200)]
            holder.consumer({ maxAttempts: 1, concurrency: 1 }, async (event, context) => {
              if (ids.includes(event.id)) throw new TypeError('a\0b')
              await insertEffect(event, context)
            })
            for (const id of ids) await send('evil', { id })
            await send('acme', { id: 'good' })
            const outbox = new Outbox(holder.subject.dataSource)
            await until(async () => (await outbox.deadLetters()).length === ids.length)
            expect(await effects()).to.deep.equal(['good'])
            expect(await outbox.replay(cursor)).to.equal(ids.length)
            await until(async () => (await outbox.deadLetters()).every(({ isWaiting }) => !isWaiting))
            expect(await outbox.deadLetters()).to.have.length(ids.length)
          })

          it('has the id of another tenant’s event is another event, done and given up for itself', async () => {
            holder.consumer({ maxAttempts: 1 }, async ({ tenant, id, key }, { sql }) => {
              if (key === 'bad') throw new TypeError('no')
              await sql`INSERT INTO effects (event_id) VALUES (${`${tenant} ${id}`})`
            })
            for (const tenant of ['evil', 'acme', 'evil']) {
              await send(tenant, { id: 'same' })
              await send(tenant, { id: 'worse', partitionkey: 'bad' })
            }
            await send('acme', { id: 'last' })
            await until(async () => (await effects()).length > 2 && (await effects()).includes('acme last'))
            expect((await effects()).sort()).to.deep.equal(['acme last', 'acme same', 'evil same'])
            const outbox = new Outbox(holder.subject.dataSource)
            await until(async () => (await outbox.deadLetters()).length === 2)
          })

          it('says of itself what means nothing says nothing', async () => {
            holder.consumer({})
            const before = Date.now()
            const wrong = [
              {
                time: 'yesterday',
                requestid: 'a\nb',
                actor: 'a\nb',
                traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`,
              },
              {
                time: '2026-13-45T00:00:00Z',
                requestid: 'x'.repeat(129),
                actor: 'x'.repeat(1001),
                source: 7,
              },
              { time: 5, requestid: {}, actor: 7 },
              {},
            ]
            const numbers = ['abc', '-1', '1.5', '1e99', '99999999999999999999', '']
            for (const [at, event] of wrong.entries())
              await send('acme', { id: `wrong ${at}`, ...event }, { 'ashlar-event-seq': numbers[at] ?? '' })
            await send('acme', { id: 'empty' }, { 'ashlar-event-seq': ' ', 'ashlar-event-epoch': 'x' })
            const right = { time: '2026-03-04T05:06:07.089+01:00', requestid: 'r-1', actor: 'system:cron' }
            await send('acme', { id: 'right', ...right }, { 'ashlar-event-seq': '7' })
            await until(() => holder.events.length === wrong.length + 2)
            const told = holder.events.map(({ time, requestId, actor, seq }) => ({
              time: time.getTime(),
              requestId,
              actor,
              seq,
            }))
            expect(told.at(-1)).to.deep.equal({
              time: Date.parse(right.time),
              requestId: 'r-1',
              actor: 'system:cron',
              seq: 7,
            })
            for (const { time, requestId, actor, seq } of told.slice(0, -1)) {
              expect([requestId, actor, seq]).to.deep.equal(['', '', 0])
              expect(time).to.be.within(before - 60_000, Date.now() + 60_000)
            }
          })
        })

      it('has nothing to do where all that was written is removed, and then what comes', async () => {
        const { dataSource, database, tell } = holder.subject
        const outbox = new Outbox(dataSource)
        const sink = { deliver: () => Promise.resolve(), close: () => Promise.resolve() }
        const others = relay({ dataSource, sink, name: 'others', leaseMs: 2000 })
        others.start()
        try {
          for (let at = 0; at < 4; at++) await tell(`k${at}`)
          await until(async () => (await column(database, 'SELECT position FROM outbox')).length === 0)
          if (source === 'a stream') await holder.purged(4)
          const late = holder.consumer({})
          expect(await late.status()).to.include({ position: 0, lag: 0 })
          const lag = async () => (await outbox.status()).cursors.find(({ name }) => name === cursor)?.lag
          expect(await lag()).to.equal(source === 'a stream' ? undefined : 0)
          await others.drain()
          await tell('late')
          await until(() => holder.events.length === 1)
          await until(async () => (await late.status()).lag === 0)
          await tell('later')
          await until(() => holder.events.length === 2)
          expect(keys()).to.deep.equal(['late', 'later'])
        } finally {
          await others.drain()
        }
      })

      it('refuses options that mean nothing', () => {
        const { dataSource } = holder.subject
        const given = (options: Partial<ConsumerOptions>) => () =>
          consumer({ name: 'x', dataSource, ...options }, () => Promise.resolve())
        expect(given({ name: 'a.b' })).to.throw(TypeError, 'is not a valid name')
        expect(given({ name: 'x'.repeat(201) })).to.throw(TypeError, 'is not a valid name')
        expect(given({ concurrency: 0 })).to.throw(RangeError, 'concurrency')
        expect(given({ markersKeptMs: -1 })).to.throw(RangeError, 'markersKeptMs')
        expect(given({ nats: { servers: 'nats://127.0.0.1' }, listenDsn: 'postgres://x' })).to.throw(
          TypeError,
          'listenDsn',
        )
        expect(given({ nats: { servers: 'nowhere' } })).to.throw(TypeError, 'servers')
      })
    })

  it('puts an event aside that cannot be stored as a dead letter, without what it says', async () => {
    const subject = await openOutbox(backend)
    const { dataSource, database } = subject
    await new Outbox(dataSource).status()
    await run(database, REFUSING[database.dialect.name] ?? '')
    const failures: string[] = []
    const one = consumer(
      { name: 'test', dataSource, maxAttempts: 2, onFailure: ({ message }) => failures.push(message) },
      ({ key }) => (key === 'bad' ? Promise.reject(new TypeError('no')) : Promise.resolve()),
    )
    try {
      one.start()
      for (const key of ['bad', 'good']) await subject.tell(key)
      await until(async () => (await one.status()).lag === 0)
      const outbox = new Outbox(dataSource)
      const [letter, ...others] = await outbox.deadLetters()
      expect(others).to.deep.equal([])
      expect(letter).to.include({ eventType: 'thing.told', isWaiting: false })
      expect(letter?.reason).to.match(/^TypeError: TypeError: no; the event at 1 could not be stored: /)
      expect(failures.some((text) => text.includes('is set aside'))).to.equal(true)
      await outbox.replay('consumer:test')
      await until(async () => (await outbox.deadLetters())[0]?.reason.includes('was not stored') === true)
    } finally {
      await one.drain()
      await subject.close()
    }
  })

  it('finds the request and the span that an event comes from', async () => {
    const subject = await openOutbox(backend)
    const trace = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
    const found: RequestContext[] = []
    const actors: string[] = []
    const one = consumer({ name: 'test', dataSource: subject.dataSource }, ({ actor }, context) => {
      actors.push(actor)
      return Promise.resolve(found.push(context))
    })
    try {
      one.start()
      const principal = { subject: 'ada', tenant: 'acme', groups: [], scopes: [] }
      await new RequestContext({ requestId: 'r-1', trace, principal }).run(() =>
        transaction(subject.dataSource, () => emit({ resource: 'thing', verb: 'told', key: 'k' })),
      )
      await until(() => found.length === 1)
      expect(found[0]).to.deep.include({ requestId: 'r-1', trace })
      expect(actors).to.deep.equal(['ada'])
    } finally {
      await one.drain()
      await subject.close()
    }
  })
})

/** A table that takes no payloads, by the dialect. */
const REFUSING: Readonly<Record<string, string>> = {
  postgres: 'ALTER TABLE outbox_dead_letter ADD CONSTRAINT empty CHECK (length(payload) = 0)',
  mysql: 'ALTER TABLE outbox_dead_letter ADD CONSTRAINT empty CHECK (length(payload) = 0)',
  mariadb: 'ALTER TABLE outbox_dead_letter ADD CONSTRAINT empty CHECK (length(payload) = 0)',
  sqlite:
    "CREATE TRIGGER empty BEFORE INSERT ON outbox_dead_letter WHEN length(NEW.payload) > 0 BEGIN SELECT RAISE(ABORT, 'no'); END",
}

const insertEffect: EventHandler = async ({ id }, { sql }) => {
  await sql`INSERT INTO effects (event_id) VALUES (${id})`
}

interface Holder {
  readonly subject: OutboxSubject
  readonly stream: TestStream
  /** Everything that a handler was given, attempts that failed included. */
  readonly events: ReceivedEvent[]
  readonly failures: string[]
  /** Removes so many messages of the stream, when they are there. */
  purged(count: number): Promise<void>
  /** Starts one. */
  consumer(options: Partial<ConsumerOptions>, handler?: EventHandler): EventWorker
}

function subjectOn(backend: Backend, source: (typeof SOURCES)[number]): Holder {
  const workers: EventWorker[] = []
  const holder = {
    purged: async (count: number) => {
      const { manager, options } = holder.stream
      const info = () => manager.streams.info(options.stream).catch(() => undefined)
      await until(async () => (await info())?.state.messages === count)
      await manager.streams.purge(options.stream)
    },
    consumer: (options: Partial<ConsumerOptions>, handler: EventHandler = () => Promise.resolve()) => {
      const made = consumer(
        {
          ...{ name: 'test', dataSource: holder.subject.dataSource, leaseMs: 2000 },
          ...(source === 'a stream' ? { nats: holder.stream.options } : {}),
          onFailure: ({ error }) => holder.failures.push(String(error)),
          ...options,
        },
        (event, context) => {
          holder.events.push(event)
          return handler(event, context)
        },
      )
      workers.push(made)
      made.start()
      return made
    },
  } as { -readonly [Name in keyof Holder]: Holder[Name] }
  before(function () {
    if (source === 'a stream') needsNats(`a consumer of a stream on ${backend.name}`, this)
  })
  beforeEach(async () => {
    Object.assign(holder, { subject: await openOutbox(backend), events: [], failures: [] })
    await holder.subject.dataSource.query('CREATE TABLE effects (event_id varchar(64) NOT NULL)')
    if (source === 'the outbox, which it only polls') deafen(holder.subject)
    if (source !== 'a stream') return
    holder.stream = await testStream()
    const sink = natsSink(holder.stream.options)
    const relaying = relay({ dataSource: holder.subject.dataSource, sink, leaseMs: 2000 })
    workers.push(relaying)
    relaying.start()
  })
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((one) => one.drain()))
    await holder.subject?.close()
    await holder.stream?.close()
  })
  return holder
}
