import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import type { ReferenceAccess } from '../../../lib/persistence/contract/related-options.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { type Backend, backends, describeOn, coalesced } from '../../support/databases/backends.js'
import { Bill, Guest, Stay } from './stays.js'
import { BillService } from '../../support/gen/stays_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { collated } from '../repository/open-subject.js'

const ENTITIES = [Guest, Stay, Bill]

interface Stays {
  readonly guests: Repository<Guest>
  readonly stays: Repository<Stay>
  readonly bills: Repository<Bill>
  close(): Promise<void>
}

async function openStays(backend: Backend): Promise<Stays> {
  const { dataSource, database, close } = await backend.open(ENTITIES)
  if (dataSource !== undefined && database !== undefined)
    await createTables(collated(dataSource, backend), ENTITIES, database.dialect.name)
  const memory = new MemoryDatabase()
  const open = <E extends object>(entity: EntityClass<E>): Repository<E> =>
    (dataSource
      ? new (repositoryOf(entity))(dataSource)
      : new (memoryRepositoryOf(entity))({ database: memory })) as never
  return { guests: open(Guest), stays: open(Stay), bills: open(Bill), close }
}

const as = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
const asAcme = <T>(fn: () => Promise<T>): Promise<T> => as('acme', fn)

const bill = (guestId: string, stayId: string, id = 'new') => ({ id, guestId, stayId, title: id })

describeOn('the parent in a name', [...backends, ...coalesced], (backend) => {
  let at: Stays
  let running: RunningServer
  let client: ForeignClient

  before(async function () {
    at = await openStays(backend)
    running = await startServer((builder) => builder.register(BillService, at.bills))
    client = new ForeignClient(BillService, running.grpc)
    await as('globex', async () => {
      await at.guests.create({ id: 'ada', title: 'theirs' })
      await at.stays.create({ id: 'theirs', guestId: 'ada', title: 'theirs' })
    })
    await asAcme(async () => {
      for (const id of ['ada', 'bob', 'ADA', 'eve']) await at.guests.create({ id, title: id })
      for (const [id, guestId] of [
        ['one', 'ada'],
        ['two', 'bob'],
        ['gone', 'ada'],
        ['moves', 'ada'],
      ] as const)
        await at.stays.create({ id, guestId, title: id })
      await at.stays.delete('gone')
    })
  })
  beforeEach(() =>
    asAcme(async () => {
      for (const { id } of (await at.bills.list()).items) await at.bills.delete(id)
      await at.bills.create(bill('ada', 'one', 'kept'))
    }),
  )
  after(async () => {
    client?.close()
    await running?.stop()
    await at?.close()
  })

  /** Guest and stay: each is there, or looks like one that is, and no stay has the name. */
  const FALSE = [
    ['ada', 'two'],
    ['bob', 'one'],
    ['ADA', 'one'],
    ['ada', 'theirs'],
    ['ada', 'gone'],
    ['ada', 'none'],
  ] as const

  const refused = async (write: () => Promise<unknown>, title: string) => {
    const error = await rejection(write(), InvalidArgument)
    expect(error.message, title).to.equal('stay_id: there is no such stay')
  }

  it('must be the name of a resource, on Create', async () => {
    for (const [guest, stay] of FALSE) {
      const parent = `guests/${guest}/stays/${stay}`
      for (const validate_only of [false, true]) {
        const request = { parent, bill: { title: 'x' }, bill_id: 'new', validate_only }
        const { code, details } = await client.unary('CreateBill', request, ALICE)
        expect([status[code], details], parent).to.deep.equal([
          'INVALID_ARGUMENT',
          'stay_id: there is no such stay',
        ])
      }
      const response = await fetch(`${running.http}/v1/${parent}/bills`, post(ALICE, { title: 'x' }))
      expect(response.status, parent).to.equal(400)
    }
    await asAcme(async () => expect((await at.bills.list()).items).to.have.length(1))
    const request = { parent: 'guests/bob/stays/two', bill: { title: 'x' }, bill_id: 'new' }
    const made = await client.unary('CreateBill', request, ALICE)
    expect(made.answer).to.include({ name: 'guests/bob/stays/two/bills/new' })
  })

  it('must be the actual parent, on Get, Update, Delete and List', async () => {
    for (const [guest, stay] of FALSE) {
      const parent = `guests/${guest}/stays/${stay}`
      const name = `${parent}/bills/kept`
      for (const [method, request] of [
        ['GetBill', { name }],
        ['UpdateBill', { bill: { name, title: 'x' }, update_mask: { paths: ['title'] } }],
        ['DeleteBill', { name }],
      ] as const)
        expect((await client.unary(method, request, ALICE)).code, `${method} ${name}`).to.equal(
          status.NOT_FOUND,
        )
      const { answer } = await client.unary('ListBills', { parent }, ALICE)
      expect(answer?.['bills'], parent).to.deep.equal([])
    }
  })

  it('is authorized with its full name, in every write', () =>
    asAcme(async () => {
      const asked: unknown[] = []
      const references: ReferenceAccess = {
        refer({ target, values }) {
          if (target.entity === Stay) asked.push(values)
          return { isNone: false }
        },
      }
      const whole = { id: 'one', guestId: 'ada' }
      const options = { references, outputOnly: true }
      await at.bills.create(bill('ada', 'one'), { references })
      expect(asked.splice(0)).to.deep.equal([whole])
      await at.bills.update('new', { stayId: 'one' }, ['stay_id'], options)
      expect(asked.splice(0)).to.deep.equal([whole])
      await at.bills.modify('new', () => ({ stayId: 'one' }), options)
      expect(asked.splice(0)).to.deep.equal([whole])
    }))

  it('must be the name of a resource, when the repository creates', () =>
    asAcme(async () => {
      for (const [guest, stay] of FALSE) {
        await refused(() => at.bills.create(bill(guest, stay)), `${guest} ${stay}`)
        const { id, ...minted } = bill(guest, stay)
        await refused(() => at.bills.create(minted), `${guest} ${stay} without ${id}`)
      }
      expect((await at.bills.list()).items).to.have.length(1)
    }))

  it('must be the name of a resource, when code moves one, whichever part it writes', () =>
    asAcme(async () => {
      const own = { outputOnly: true }
      for (const [entity, mask] of [
        [{ stayId: 'two' }, ['stay_id']],
        [{ guestId: 'bob' }, ['guest_id']],
        [{ guestId: 'eve', stayId: 'two' }, ['guest_id', 'stay_id']],
      ] as const) {
        await refused(() => at.bills.update('kept', entity, mask, own), mask.join())
        await refused(() => at.bills.modify('kept', () => entity, own), mask.join())
      }
      expect(await at.bills.get('kept')).to.include({ guestId: 'ada', stayId: 'one' })
      const moved = await at.bills.modify('kept', () => ({ guestId: 'bob', stayId: 'two' }), own)
      expect(moved).to.include({ guestId: 'bob', stayId: 'two' })
      await rejection(at.bills.update('none', { stayId: 'one' }, ['stay_id'], own), ErrNotFound)
      expect(await at.bills.update('kept', { title: 'y' }, ['title'])).to.include({ title: 'y' })
    }))

  it('moves before its children, in one transaction', () =>
    asAcme(async () => {
      const own = { outputOnly: true }
      await at.bills.create(bill('ada', 'moves', 'first'))
      const move = (guestId: string, isParentFirst: boolean) =>
        at.stays.transaction(async () => {
          const parent = () => at.stays.modify('moves', () => ({ guestId }), own)
          if (isParentFirst) await parent()
          await at.bills.modify('first', () => ({ guestId }), own)
          if (!isParentFirst) await parent()
        })
      await refused(() => move('bob', false), 'the child first')
      await move('bob', true)
      expect(await at.bills.get('first')).to.include({ guestId: 'bob' })
      await move('ada', true)
    }))

  it('cannot move while a resource is created under it', () =>
    asAcme(async () => {
      const own = { outputOnly: true }
      let moved = (): void => {}
      const isMoved = new Promise<void>((resolve) => (moved = resolve))
      let end = (): void => {}
      const isOver = new Promise<void>((resolve) => (end = resolve))
      const moving = at.stays.transaction(async () => {
        await at.stays.modify('moves', () => ({ guestId: 'bob' }), own)
        moved()
        await isOver
      })
      await isMoved
      const creating = refused(() => at.bills.create(bill('ada', 'moves')), 'the name of before')
      setTimeout(end, 50)
      await Promise.all([moving, creating])
      await at.bills.create(bill('bob', 'moves'))
      await at.bills.delete('new')
      await at.stays.modify('moves', () => ({ guestId: 'ada' }), own)
    }))
})
