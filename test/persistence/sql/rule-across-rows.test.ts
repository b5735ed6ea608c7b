import { expect } from 'chai'
import { type DataSource, Column, Entity, ManyToOne, PrimaryColumn, type Relation } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { Aborted, AshlarError, ErrPreconditionFailed } from '../../../lib/errors.js'
import type { Isolation } from '../../../lib/persistence/contract/repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource()
@Entity('halls')
@TenantScoped()
class Hall {
  @PrimaryColumn({ length: 63 }) id!: string
  @Column() seats!: number
  accountId!: string
}

@Resource()
@Entity('hall_bookings')
@TenantScoped()
class HallBooking {
  @PrimaryColumn({ length: 63 }) id!: string
  @Column({ length: 63 }) hallId!: string
  @ManyToOne(() => Hall) hall?: Relation<Hall>
  @Column() hour!: number
  accountId!: string
}

const HallRepository = repositoryOf(Hall)
const BookingRepository = repositoryOf(HallBooking)

const inAcme = <T>(fn: () => Promise<T>) => RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

describeOn('a rule across rows', databases, (on) => {
  const { name, open } = on
  let backend: OpenBackend
  let halls: InstanceType<typeof HallRepository>
  let bookings: InstanceType<typeof BookingRepository>
  let round = 0

  const hasLocks = name !== 'sqlite' && name !== 'better-sqlite3'
  const dataSource = () => backend.dataSource as DataSource

  before(async () => {
    backend = await open([Hall, HallBooking])
    await createTables(collated(dataSource(), on), [Hall, HallBooking], backend.database!.dialect.name)
    halls = new HallRepository(dataSource())
    bookings = new BookingRepository(dataSource())
  })
  after(() => backend?.close())
  afterEach(() => Object.assign(dataSource().options, { isolationLevel: undefined }))

  const setLevel = (level: string) => Object.assign(dataSource().options, { isolationLevel: level })
  const isTaken = (hall: string) => bookings.exists({}, { under: filter`hall_id = ${hall} AND hour = 9` })

  /** The recipe of docs/guides/rules-across-rows.md. */
  const book = (
    hall: string,
    id: string,
    options?: { readonly isolation: Isolation },
    before = async () => {},
  ) =>
    bookings.transaction(async () => {
      await before()
      await halls.get(hall, { lock: 'update' })
      if (await isTaken(hall)) throw new AshlarError('FAILED_PRECONDITION', 'the hall is booked')
      return bookings.create({ id, hallId: hall, hour: 9 })
    }, options)

  /** Twenty calls at once. Returns how many bookings there are, and what the others failed with. */
  const race = (one: (hall: string, id: string) => Promise<unknown>) =>
    inAcme(async () => {
      const hall = `hall ${++round}`
      await halls.create({ id: hall, seats: 1 })
      const calls = Array.from({ length: 20 }, (_, i) => one(hall, `booking ${round} ${i}`))
      const settled = await Promise.allSettled(calls)
      const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []))
      return { booked: await bookings.count({}, { under: filter`hall_id = ${hall}` }), errors }
    })

  it('is kept by twenty calls at once', async () => {
    const { booked, errors } = await race((hall, id) => book(hall, id))
    expect(booked).to.equal(1)
    for (const error of errors) expect(error.message).to.equal('the hall is booked')
  })

  for (const level of ['REPEATABLE READ', 'SERIALIZABLE'])
    it(`is kept by twenty calls at once where the DataSource says ${level}`, async () => {
      setLevel(level)
      const { booked } = await race((hall, id) => book(hall, id))
      expect(booked).to.be.at.most(1)
    })

  it('is kept in read committed where the DataSource says REPEATABLE READ', async () => {
    setLevel('REPEATABLE READ')
    const { booked, errors } = await race((hall, id) => book(hall, id, { isolation: 'read committed' }))
    expect(booked).to.equal(1)
    for (const error of errors) expect(error.message).to.equal('the hall is booked')
  })

  it('is kept where something was read before the lock', async () => {
    setLevel('REPEATABLE READ')
    const { booked } = await race((hall, id) =>
      book(hall, id, undefined, async () => {
        await halls.get(hall)
      }),
    )
    expect(booked).to.be.at.most(1)
  })

  if (hasLocks) {
    it('is refused by name where the read does not see what the lock has waited for', async () => {
      setLevel('REPEATABLE READ')
      const { booked, errors } = await race((hall, id) =>
        book(hall, id, undefined, async () => {
          await halls.get(hall)
        }),
      )
      expect(booked).to.equal(0)
      expect(errors).to.have.length(20)
      for (const error of errors) {
        expect(error).to.be.instanceOf(ErrPreconditionFailed)
        expect((error as ErrPreconditionFailed).details).to.deep.include({
          kind: 'preconditionFailure',
          type: 'ISOLATION',
          subject: 'hall_booking',
          description:
            'rows are locked, but this list or count does not see what others have committed since: use the isolation read committed',
        })
      }
    })

    it('can be kept by a write of the parent', async () => {
      setLevel('REPEATABLE READ')
      const { booked, errors } = await race((hall, id) =>
        bookings.transaction(async () => {
          await halls.modify(hall, ({ seats }) => ({ seats: seats - 1 }))
          if (await isTaken(hall)) throw new AshlarError('FAILED_PRECONDITION', 'the hall is booked')
          return bookings.create({ id, hallId: hall, hour: 9 })
        }),
      )
      expect(booked).to.equal(1)
      for (const error of errors)
        if (!(error instanceof Aborted)) expect(error.message).to.equal('the hall is booked')
    })

    it('may list after a lock for a write of the same row', () =>
      inAcme(async () => {
        setLevel('REPEATABLE READ')
        const hall = `hall ${++round}`
        await halls.create({ id: hall, seats: 1 })
        const left = await bookings.transaction(async () => {
          expect(await isTaken(hall)).to.equal(false)
          await halls.modify(hall, () => ({ seats: 0 }))
          return isTaken(hall)
        })
        expect(left).to.equal(false)
      }))
  }

  if (name === 'postgres')
    it('is refused where the database itself says repeatable read', () =>
      inAcme(async () => {
        const hall = `hall ${++round}`
        await halls.create({ id: hall, seats: 1 })
        await rejection(
          dataSource().transaction('REPEATABLE READ', async (manager) => {
            await halls.withManager(manager).get(hall, { lock: 'update' })
            await bookings.withManager(manager).exists()
          }),
          ErrPreconditionFailed,
        )
      }))
})
