import { expect } from 'chai'
import { create, toJson } from '@bufbuild/protobuf'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { InvalidArgument } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../../lib/resource/model-of.js'
import { increment } from '../../../lib/resource/values/increment.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { type Invoice as InvoiceMessage, InvoiceSchema } from '../../support/gen/bills_pb.js'
import { collated } from '../repository/open-subject.js'
import { rejection } from '../../support/rejection.js'

@Resource({ message: InvoiceSchema })
@Entity('digit_invoices')
@TenantScoped()
class DigitInvoice {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) title!: string
  @Column('bigint') amount!: string
  accountId!: string
}

@Resource({ message: InvoiceSchema })
@Entity('number_invoices')
@TenantScoped()
class NumberInvoice {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) title!: string
  @Column('bigint') amount!: number
  accountId!: string
}

interface Invoice {
  id: string
  title: string
  amount: string | number
}

const LARGEST = 2n ** 63n - 1n
const SAFE = Number.MAX_SAFE_INTEGER

const FORMS = [
  {
    entity: DigitInvoice,
    held: (value: number) => String(value),
    largest: String(LARGEST),
    wrong: [5, 5n, '007', '1.5', 'five', String(LARGEST + 1n)],
  },
  {
    entity: NumberInvoice,
    held: (value: number) => value,
    largest: SAFE,
    wrong: ['5', 5n, 1.5, NaN, SAFE + 1, -SAFE - 1],
  },
] as const

describeOn('a 64-bit integer whose property', backends, (backend) => {
  for (const { entity, held, largest, wrong } of FORMS)
    describe(`is a ${typeof largest}`, () => {
      const opened = async () => {
        const { dataSource, database, close } = await backend.open([entity])
        if (dataSource === undefined || database === undefined)
          return { dataSource, close, invoices: new (memoryRepositoryOf(entity as never))({}) }
        await createTables(collated(dataSource, backend), [entity], database.dialect.name)
        return { dataSource, close, invoices: new (repositoryOf(entity as never))(dataSource) }
      }
      const run = async (
        test: (invoices: Repository<Invoice>, from: Awaited<ReturnType<typeof opened>>) => Promise<void>,
      ) => {
        const from = await opened()
        try {
          await RequestContext.as({ tenant: 'acme', subject: 'ada' }, () =>
            test(from.invoices as never as Repository<Invoice>, from),
          )
        } finally {
          await from.close()
        }
      }

      it('is written, read, filtered, sorted, paged and incremented', () =>
        run(async (invoices) => {
          for (const [at, amount] of [9, 10, -3, 100].entries()) {
            const made = await invoices.create({ id: `i${at}`, title: 'a', amount: held(amount) })
            expect(made.amount).to.equal(held(amount))
          }
          const ids: string[] = []
          for (let pageToken = ''; ;) {
            const page = await invoices.list({ orderBy: 'amount', pageSize: 1, pageToken })
            ids.push(...page.items.map(({ id }) => id))
            if ((pageToken = page.nextPageToken) === '') break
          }
          expect(ids).to.deep.equal(['i2', 'i0', 'i1', 'i3'])
          const above = await invoices.list({ filter: 'amount >= 10', orderBy: 'amount desc' })
          expect(above.items.map(({ amount }) => amount)).to.deep.equal([held(100), held(10)])
          const own = await invoices.list({}, { under: filter`amount = ${held(9)}` })
          expect(own.items.map(({ id }) => id)).to.deep.equal(['i0'])
          expect((await invoices.update('i0', { amount: largest }, ['amount'])).amount).to.equal(largest)
          expect((await invoices.get('i0')).amount).to.equal(largest)
          const more = await invoices.update('i1', { amount: increment(5) as never }, ['amount'])
          expect(more.amount).to.equal(held(15))
          const past = invoices.update('i0', { amount: increment(1) as never }, ['amount'])
          await rejection(past, InvalidArgument)
          const items = [{ key: 'i2', entity: { amount: held(4) }, fieldMask: ['amount'] as const }]
          expect((await invoices.batchUpdate(items)).map(({ amount }) => amount)).to.deep.equal([held(4)])
        }))

      it('rejects other values', () =>
        run(async (invoices) => {
          for (const amount of wrong)
            await rejection(
              invoices.create({ id: 'x', title: 'a', amount: amount as never }),
              InvalidArgument,
            )
        }))

      it("is read and written by TypeORM's manager", () =>
        run(async (invoices, { dataSource }) => {
          if (dataSource === undefined) return
          const { manager } = dataSource
          await invoices.create({ id: 'i1', title: 'a', amount: held(7) })
          const read = await manager.findOneByOrFail(entity as typeof DigitInvoice, { id: 'i1' })
          expect(read.amount).to.equal(held(7))
          read.amount = held(8) as string
          await manager.save(read)
          expect((await invoices.get('i1')).amount).to.equal(held(8))
        }))

      it('is an int64 of the message', () => {
        const model = resourceModel(entity as typeof DigitInvoice)
        const invoice = Object.assign(new entity(), { id: 'i1', title: 'a', amount: held(7) })
        const message = model.toMessage<InvoiceMessage>(invoice as never)
        expect(message.amount).to.equal(7n)
        expect(model.fromMessage(create(InvoiceSchema, { ...message, amount: 8n })).amount).to.equal(held(8))
        expect(model.fromMessage(create(InvoiceSchema, { name: 'invoices/i1' })).amount).to.equal(held(0))
        expect(toJson(InvoiceSchema, create(InvoiceSchema, message))).to.have.property('amount', '7')
      })
    })

  it('is a number is unset if the table holds an integer beyond 2^53', async () => {
    const { dataSource, database, close } = await backend.open([NumberInvoice])
    if (dataSource === undefined || database === undefined) return
    try {
      await createTables(collated(dataSource, backend), [NumberInvoice], database.dialect.name)
      await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
        const invoices = new (repositoryOf(NumberInvoice))(dataSource)
        for (const id of ['a', 'b', 'c']) await invoices.create({ id, title: 't', amount: 1 })
        await dataSource.query(`UPDATE number_invoices SET amount = ${LARGEST} WHERE id <> 'b'`)
        const { items } = await invoices.list()
        expect(items.map(({ amount }) => amount)).to.deep.equal([undefined, 1, undefined])
        const ids: string[] = []
        for (let pageToken = ''; ;) {
          const page = await invoices.list({ orderBy: 'amount', pageSize: 1, pageToken })
          ids.push(...page.items.map(({ id }) => id))
          if ((pageToken = page.nextPageToken) === '') break
        }
        expect(ids).to.deep.equal(['b', 'a', 'c'])
        await invoices.update('a', { title: 'new' }, ['title'])
        const stored = await dataSource.query<{ amount: number | string }[]>(
          `SELECT amount FROM number_invoices WHERE id = 'a'`,
        )
        expect(BigInt(stored[0]?.amount ?? 0) > BigInt(SAFE)).to.equal(true)
      })
    } finally {
      await close()
    }
  })
})
