import { expect } from 'chai'
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Emits, Resource } from '../../../decorators/index.js'
import { consumer, type ConsumerOptions } from '../../../lib/events/consumer/consumer.js'
import type { EventSubject } from '../../../lib/events/nats/event-subject.js'
import type { OutboxOwner } from '../../../lib/events/store/outbox-store.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'

@Resource({ shared: true })
@Entity('bookings')
@Emits({ on: ['created', 'updated', 'undeleted'] })
class Booking {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) title!: string
}

@Resource({ shared: true })
@Entity('rooms')
@Emits({ on: ['created', 'deleted'] })
class Room {
  @PrimaryColumn({ length: 64 }) id!: string
}

@Resource({ shared: true })
@Entity('customers')
class Customer {
  @PrimaryColumn({ length: 64 }) id!: string
}

const ENTITIES = [Booking, Room, Customer]

const WRONG: readonly (readonly [EventSubject, string])[] = [
  [{ resource: 'bookings', verb: 'created' }, '"bookings" is not a resource type; did you mean booking?'],
  [{ resource: 'booking', verb: 'create' }, 'Booking does not emit "create"; did you mean created?'],
  [{ resource: 'booking', verb: 'deleted' }, 'Booking does not emit "deleted"; '],
  [{ resource: 'booking', verb: 'undeleted' }, 'Booking does not emit "undeleted"; '],
  [{ resource: 'customer', verb: 'created' }, 'Customer has no @Emits()'],
  [{ resource: 'customer' }, 'Customer has no @Emits()'],
  [{ verb: 'create' }, 'no resource of this process emits "create"; did you mean created?'],
  [{ verb: 'purged' }, 'no resource of this process emits "purged"; '],
]

const RIGHT: readonly EventSubject[] = [
  {},
  { tenant: 'acme' },
  { resource: 'booking' },
  { verb: 'deleted' },
  { resource: 'booking', verb: 'updated' },
  // Those of `emit`, and of other processes.
  { resource: 'booking', verb: 'confirmed' },
  { resource: 'customer', verb: 'merged' },
  { resource: 'shipment', verb: 'created' },
]

const openings: Readonly<Record<string, () => Promise<OutboxOwner>>> = {
  'a DataSource': () => new SqliteDataSource({ database: ':memory:', entities: ENTITIES }).initialize(),
  'a MemoryDatabase': () => {
    const database = new MemoryDatabase()
    for (const entity of ENTITIES) new (memoryRepositoryOf<object>(entity))({ database })
    return Promise.resolve(database)
  },
}

for (const [name, open] of Object.entries(openings))
  describe(`the subject of a consumer on ${name}`, () => {
    let dataSource: OutboxOwner
    before(async () => (dataSource = await open()))
    after(async () => (dataSource instanceof DataSource ? dataSource.destroy() : undefined))

    const made = (subject: EventSubject, options: Partial<ConsumerOptions> = {}) =>
      consumer({ name: 'test', subject, dataSource, ...options }, () => Promise.resolve())

    for (const [subject, problem] of WRONG)
      it(`that can never match stops the start: ${JSON.stringify(subject)}`, async () => {
        const problems = await made(subject).startUpCheck()
        expect(problems).to.have.length(1)
        expect(problems[0]).to.include(`consumer:test: subject: ${problem}`)
        expect(() => made(subject).start()).to.throw(TypeError, problem)
        expect(await made(subject, { subjectCheck: 'off' }).startUpCheck()).to.deep.equal([])
      })

    it('that can match does not stop the start', async () => {
      for (const subject of RIGHT) expect(await made(subject).startUpCheck()).to.deep.equal([])
    })

    it('of a stream may be a resource that another process emits', async () => {
      const nats = { servers: 'nats://127.0.0.1:1' }
      expect(await made({ resource: 'customer', verb: 'created' }, { nats }).startUpCheck()).to.deep.equal([])
      expect(await made({ verb: 'purged' }, { nats }).startUpCheck()).to.deep.equal([])
      expect(await made({ resource: 'booking', verb: 'create' }, { nats }).startUpCheck()).to.have.length(1)
    })
  })

describe('the subject of a consumer in a process without the entities', () => {
  it('is not checked', async () => {
    const dataSource = new MemoryDatabase()
    for (const [subject] of WRONG) {
      const one = consumer({ name: 'test', subject, dataSource }, () => Promise.resolve())
      expect(await one.startUpCheck()).to.deep.equal([])
    }
  })
})
