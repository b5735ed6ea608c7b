import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from '../../../lib/errors.js'
import { Cursors } from '../../../lib/events/store/cursors.js'
import { DeadLetters } from '../../../lib/events/store/sql-dead-letters.js'
import type { LoggedEvent } from '../../../lib/events/log/event-log.js'
import type { EventWorker } from '../../../lib/events/following/event-worker.js'
import { forgetNames } from '../../../lib/events/following/worker-names.js'
import { relay, type RelayOptions } from '../../../lib/events/relay/relay.js'
import { sqlText } from '../../../lib/persistence/engines/sql-text.js'
import type { Sink } from '../../../lib/events/relay/sink.js'
import { type Backend, databases, describeOn } from '../../support/databases/backends.js'
import { agedRows, column, run } from '../../support/databases/statement.js'
import { deafen, held, openOutbox, type OutboxSubject } from '../outbox-subject.js'
import { until } from '../../support/until.js'

const numberOf = (payload: Buffer): number =>
  (JSON.parse(payload.toString()) as { data: { at: number } }).data.at

const HOUR_MS = 3_600_000

for (const isWoken of [true, false])
  describeOn(isWoken ? 'a relay' : 'a relay that only polls', databases, (backend) => {
    const holder = subjectOn(backend, isWoken)
    const keys = () => holder.sink.events.map(({ key }) => key)
    const rows = async () => Number((await column(holder.subject.database, 'SELECT COUNT(*) FROM outbox'))[0])

    it('delivers what is committed, in its order, and removes it', async () => {
      const { subject, sink } = holder
      const one = holder.relay()
      one.start()
      for (let at = 0; at < 30; at++) await subject.tell(`k${at % 3}`, { data: { at } })
      await until(() => sink.events.length === 30)
      for (const key of ['k0', 'k1', 'k2'])
        expect(sink.numbers(key)).to.deep.equal(
          Array.from({ length: 10 }, (_, at) => at * 3 + Number(key[1])),
        )
      await until(async () => (await rows()) === 0)
      expect(await one.status()).to.deep.equal({ name: 'relay:test', isLeading: true, position: 30, lag: 0 })
    })

    it('says how many events it has still to deliver', async () => {
      const { subject } = holder
      holder.sink.fails = () => new Unavailable('down')
      const one = holder.relay()
      one.start()
      for (let at = 0; at < 3; at++) await subject.tell(`k${at}`)
      await until(async () => (await one.status()).lag === 3)
    })

    it('delivers nothing that is rolled back', async () => {
      const { subject } = holder
      const gone = await held(subject, 'gone')
      await gone.rollBack()
      await subject.tell('kept')
      holder.relay().start()
      await until(() => keys().includes('kept'))
      expect(keys()).to.deep.equal(['kept'])
    })

    it('has one event of a resource under way at a time, and those of others beside it', async () => {
      const { subject, sink } = holder
      for (const key of ['a', 'a', 'b', 'a', 'b', 'c']) await subject.tell(key)
      sink.takesMs = 30
      let deliver = () => {}
      sink.takes = new Promise((resolve) => (deliver = resolve))
      holder.relay().start()
      await until(() => sink.running > 1)
      sink.takes = undefined
      deliver()
      await until(() => sink.events.length === 6)
      expect(sink.mostOfOneKey).to.equal(1)
    })

    it('tells keys apart by the tenant', async () => {
      const { subject, sink } = holder
      for (const tenant of ['acme', 'other']) await subject.tell('same', { tenant })
      let deliver = () => {}
      sink.takes = new Promise((resolve) => (deliver = resolve))
      holder.relay().start()
      await until(() => sink.running === 2)
      deliver()
      await until(() => sink.events.length === 2)
    })

    it('waits for an outage to pass, and gives nothing up', async () => {
      const { subject, sink } = holder
      let isDown = true
      sink.fails = () => (isDown ? new Unavailable('down') : undefined)
      for (let at = 0; at < 5; at++) await subject.tell(`k${at}`)
      holder.relay({ maxAttempts: 1 }).start()
      await until(() => sink.refused > 8)
      isDown = false
      await until(() => sink.events.length === 5)
      expect(await new DeadLetters(subject.database).counts()).to.have.property('size', 0)
    })

    it('gives up an event that fails by itself, then goes on with its resource, and tries it again when it is asked to', async () => {
      const { subject, sink } = holder
      let isPoison = true
      sink.fails = ({ key, payload }) =>
        isPoison && key === 'bad' && numberOf(payload) === 1 ? new TypeError('it is poison') : undefined
      for (const [key, at] of [
        ['bad', 0],
        ['bad', 1],
        ['good', 2],
        ['bad', 3],
      ] as const)
        await subject.tell(key, { data: { at } })
      holder.relay({ maxAttempts: 3 }).start()
      await until(() => sink.events.length === 3)
      expect(sink.numbers('bad')).to.deep.equal([0, 3])
      expect(sink.refused).to.equal(3)
      const letters = new DeadLetters(subject.database)
      const [letter] = await letters.list(10)
      expect(letter).to.include({
        cursor: 'relay:test',
        eventType: 'thing.told',
        reason: 'TypeError: it is poison',
      })

      isPoison = false
      expect(await letters.replay('relay:test', letter?.id)).to.equal(1)
      await until(() => sink.events.length === 4)
      expect(sink.numbers('bad')).to.deep.equal([0, 3, 1])
      await until(async () => (await letters.list(10)).length === 0)
    })

    it('keeps a dead letter that fails again', async () => {
      const { subject, sink } = holder
      sink.fails = () => new TypeError('first')
      await subject.tell('bad')
      const one = holder.relay({ maxAttempts: 1 })
      one.start()
      const letters = new DeadLetters(subject.database)
      await until(async () => (await letters.list(10)).length === 1)
      sink.fails = () => new TypeError('second')
      await letters.replay('relay:test')
      await until(async () => (await letters.list(10))[0]?.reason === 'TypeError: second')
      expect(await letters.list(10)).to.have.length(1)
    })

    it('works in one process at a time, and another takes over', async () => {
      const { subject, sink } = holder
      const [one, other] = [holder.relay(), holder.relay()]
      one.start()
      await until(async () => (await one.status()).isLeading)
      forgetNames(subject.dataSource)
      other.start()
      await subject.tell('a')
      await until(() => keys().length === 1)
      expect((await other.status()).isLeading).to.equal(false)
      await one.drain()
      await until(async () => (await other.status()).isLeading)
      await subject.tell('b')
      await until(() => keys().length === 2)
      expect(keys()).to.deep.equal(['a', 'b'])
      expect(sink.most).to.equal(1)
    })

    it('takes over from a process that has died, when its lease is over', async () => {
      const { subject } = holder
      const { database } = subject
      const dead = `INSERT INTO outbox_leases (name, owner, lease_until) VALUES (?, ?, ${sqlText(database).later})`
      await holder.relay().status()
      await run(database, dead, ['relay:test', 'dead', HOUR_MS])
      const one = holder.relay()
      one.start()
      await subject.tell('a')
      await pause(300)
      expect(keys()).to.deep.equal([])
      await agedRows(database, 'outbox_leases', ['lease_until'], HOUR_MS)
      await until(() => keys().length === 1)
    })

    it('stops, and saves nothing, when another has its lease', async () => {
      const { subject, sink } = holder
      const one = holder.relay({ leaseMs: 400 })
      one.start()
      await subject.tell('a')
      await until(async () => (await one.status()).position === 1)
      let deliver = () => {}
      sink.takes = new Promise((resolve) => (deliver = resolve))
      await subject.tell('b')
      await until(() => sink.running === 1)
      const { later } = sqlText(subject.database)
      const taken = `UPDATE outbox_leases SET owner = 'other', lease_until = ${later}`
      await run(subject.database, taken, [HOUR_MS])
      await until(async () => !(await one.status()).isLeading)
      deliver()
      await until(() => sink.running === 0)
      await pause(300)
      expect(await new Cursors(subject.database).open('relay:test')).to.equal(1)
    })

    it('leaves no event out when its lease was over for a moment, and nobody else has taken it', async () => {
      const { subject, sink } = holder
      const one = holder.relay({ leaseMs: 200 })
      for (let at = 0; at < 6; at++) await subject.tell('a', { data: { at } })
      let isBlocked = false
      sink.fails = () => {
        // The process stands still for longer than its lease.
        for (const end = performance.now() + 500; !isBlocked && performance.now() < end;);
        isBlocked = true
        return undefined
      }
      one.start()
      await until(async () => (await one.status()).position === 6)
      expect([...new Set(sink.numbers('a'))]).to.deep.equal([0, 1, 2, 3, 4, 5])
    })

    it('repeats what was delivered when the cursor could not be saved', async () => {
      const { subject, sink } = holder
      const one = holder.relay()
      one.start()
      for (let at = 0; at < 4; at++) await subject.tell(`k${at}`)
      await until(async () => (await one.status()).position === 4)
      await one.drain()
      expect(await rows()).to.be.at.most(4)
      await subject.tell('last')
      holder.relay().start()
      await until(() => keys().includes('last'))
      expect(keys()).to.deep.equal(['k0', 'k1', 'k2', 'k3', 'last'])
      expect(sink.closed).to.equal(1)
    })

    it('removes only what every relay has delivered', async () => {
      const { subject } = holder
      const slow = recording()
      slow.fails = () => new Unavailable('down')
      const other = holder.relay({ name: 'other', sink: slow })
      other.start()
      await until(async () => (await other.status()).isLeading)
      holder.relay().start()
      await subject.tell('a')
      await until(() => keys().length === 1)
      await pause(1500)
      expect(await rows()).to.equal(1)
      slow.fails = () => undefined
      await until(() => slow.events.length === 1)
      await until(async () => (await rows()) === 0)
    })

    it('refuses options that mean nothing', () => {
      expect(() => holder.relay({ name: 'a.b' })).to.throw(TypeError, 'is not a valid name')
      expect(() => holder.relay({ maxAttempts: 0 })).to.throw(RangeError, 'maxAttempts')
      expect(() => holder.relay({ leaseMs: Number.NaN })).to.throw(RangeError, 'leaseMs')
      if (backend.name !== 'postgres')
        expect(() => holder.relay({ listenDsn: 'postgres://x' })).to.throw(TypeError, 'has no LISTEN')
    })
  })

interface Recording extends Sink {
  readonly events: LoggedEvent[]
  fails: (event: LoggedEvent) => Error | undefined
  /** Delivers nothing before it settles. */
  takes: Promise<void> | undefined
  takesMs: number
  running: number
  most: number
  mostOfOneKey: number
  refused: number
  closed: number
  /** The numbers in the events of a key, in the order of their delivery. */
  numbers(key: string): number[]
}

/** A sink that keeps what it gets. */
function recording(): Recording {
  const running = new Map<string, number>()
  const sink: Recording = {
    ...{ events: [], fails: () => undefined, takes: undefined, takesMs: 0, running: 0 },
    ...{ most: 0, mostOfOneKey: 0, refused: 0, closed: 0 },
    deliver: async (event) => {
      const count = (running.get(event.key) ?? 0) + 1
      running.set(event.key, count)
      sink.running++
      sink.most = Math.max(sink.most, sink.running)
      sink.mostOfOneKey = Math.max(sink.mostOfOneKey, count)
      try {
        await (sink.takes ?? pause(sink.takesMs))
        const failure = sink.fails(event)
        if (failure !== undefined) {
          sink.refused++
          throw failure
        }
        sink.events.push(event)
      } finally {
        sink.running--
        running.set(event.key, count - 1)
      }
    },
    close: () => {
      sink.closed++
      return Promise.resolve()
    },
    numbers: (key) =>
      sink.events.filter((event) => event.key === key).map(({ payload }) => numberOf(payload)),
  }
  return sink
}

interface Holder {
  readonly subject: OutboxSubject
  readonly sink: Recording
  relay(options?: Partial<RelayOptions>): EventWorker
}

function subjectOn(backend: Backend, isWoken: boolean): Holder {
  const workers: EventWorker[] = []
  const holder = {
    relay: (options: Partial<RelayOptions> = {}) => {
      const { subject, sink } = holder
      const made = relay({
        ...{ dataSource: subject.dataSource, sink, name: 'test', leaseMs: 2000, onFailure: () => {} },
        ...options,
      })
      workers.push(made)
      return made
    },
  } as Holder & { subject: OutboxSubject; sink: Recording }
  beforeEach(async () => {
    Object.assign(holder, { subject: await openOutbox(backend), sink: recording() })
    if (!isWoken) deafen(holder.subject)
  })
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((one) => one.drain()))
    await holder.subject.close()
  })
  return holder
}
