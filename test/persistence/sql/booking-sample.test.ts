import { expect } from 'chai'
import { basename } from 'node:path'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { compiled } from '../../support/root.js'
import { type PageFolder, pageFolder } from '../../support/sources/page-module.js'

interface Booking {
  id: string
  roomId: string
  startTime: Date
  endTime: Date
  isCancelled: boolean
}

interface Sample {
  readonly Room: new () => { id: string }
  readonly Booking: new () => Booking
  readonly BookingRepository: new (dataSource: DataSource) => Repository<Booking>
}

const inAcme = <T>(fn: () => Promise<T>) => RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)
const at = (hour: number) => new Date(Date.UTC(2030, 0, 1, hour))

/** The code of the guide, as it is on the page. */
describeOn('booking-repository.ts of docs/guides/rules-across-rows.md', databases, (on) => {
  let page: PageFolder
  let backend: OpenBackend
  let bookings: Repository<Booking>

  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder('docs/guides/rules-across-rows.md')
    const exports = await page.load('booking-repository.ts')
    const { Room, Booking, BookingRepository } = exports as unknown as Sample
    backend = await on.open([Room, Booking])
    const dataSource = backend.dataSource as DataSource
    await createTables(collated(dataSource, on), [Room, Booking], backend.database!.dialect.name)
    bookings = new BookingRepository(dataSource)
    await inAcme(() => new (repositoryOf(Room))(dataSource).create({ id: 'blue' }))
  })
  after(async () => {
    await backend?.close()
    page?.remove()
  })

  const book = (id: string, from: number, to: number, roomId = 'blue') =>
    bookings.create({ id, roomId, startTime: at(from), endTime: at(to) })
  const messageOf = (call: Promise<unknown>) =>
    call.then(
      () => 'no error',
      (error: Error) => error.message,
    )

  it('books a room once at a time, also for twenty calls at once', () =>
    inAcme(async () => {
      const settled = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => book(`b${i}`, 9, 11)))
      expect(settled.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
      expect(await messageOf(book('late', 10, 12))).to.equal('the room is booked at that time')
      await book('next', 11, 12)
      expect(await messageOf(book('back', 14, 13))).to.include('has to be after start_time')
      expect(await messageOf(book('none', 14, 15, 'red'))).to.include('there is no such room')
      expect(await messageOf(bookings.create({ id: 'half', roomId: 'blue', startTime: at(14) }))).to.include(
        'end_time',
      )
      const later = { startTime: at(18) }
      expect(await messageOf(bookings.update('next', later, ['start_time']))).to.include('after start_time')
    }))

  it('undeletes a booking only while its time is free', () =>
    inAcme(async () => {
      await book('first', 20, 22)
      await bookings.delete('first')
      await book('second', 21, 23)
      expect(await messageOf(bookings.undelete('first'))).to.equal('the room is booked at that time')
      await bookings.delete('second')
      expect((await bookings.undelete('first')).id).to.equal('first')
      expect(await messageOf(bookings.undelete('first'))).to.not.include('booked')
      expect(await messageOf(bookings.undelete('nothing'))).to.not.include('booked')
    }))
})
