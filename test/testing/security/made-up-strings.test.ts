import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { Column, type DataSource, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import type { ServerCall } from '../../../lib/call.js'
import {
  memoryRepositoryOf,
  type NewEntity,
  type OperationOptions,
  repositoryOf,
} from '../../../lib/persistence/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { type Authorizer, ServerBuilder, supportsRowAccess } from '../../../lib/server/index.js'
import { securityCheck, type SecurityReport } from '../../../lib/testing/index.js'
import { Invoice, Payment, Publisher } from '../../support/entities/edition.js'
import {
  type DescribePaymentRequest,
  InvoiceSchema,
  InvoiceService,
  PaymentService,
} from '../../support/gen/bills_pb.js'
import { PublisherService } from '../../support/gen/editions_pb.js'
import { NoteSchema, NoteService } from '../../support/gen/specimens_pb.js'

const authorizer: Authorizer = { decidesByRow: true, authorize: () => false }

const found = ({ findings }: SecurityReport) => [
  ...new Set(findings.map(({ check, method, text }) => `${check} ${method.split('/').at(-1)}: ${text}`)),
]

@Resource({ message: NoteSchema, type: 'note', shared: true })
@Entity('notes')
class CommonNote {
  @PrimaryColumn() name!: string
  @Column() text!: string
  @Column() stars!: number
}

/** Its title is the name of a note. */
@Resource({ message: InvoiceSchema, type: 'invoice' })
@Entity('invoices')
@TenantScoped()
class NotedInvoice {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @ManyToOne(() => CommonNote) @JoinColumn({ name: 'title' }) note?: Relation<CommonNote>
  @Column('bigint') amount!: bigint
  accountId!: string
}

describe('securityCheck of a shared resource that a tenant resource refers to', function () {
  class Notes extends repositoryOf(CommonNote) {}
  class Publishers extends repositoryOf(Publisher) {}

  const check = async (
    publishersOf: (dataSource: DataSource, notes: Notes) => Publishers,
  ): Promise<SecurityReport> => {
    const entities = [CommonNote, NotedInvoice, Publisher]
    const dataSource = await new SqliteDataSource({ database: ':memory:', entities }).initialize()
    try {
      await createTables(dataSource, entities, 'sqlite')
      const notes = new Notes(dataSource)
      return await securityCheck(
        new ServerBuilder({ authorizer })
          .register(InvoiceService, new (repositoryOf(NotedInvoice))(dataSource))
          .register(PublisherService, publishersOf(dataSource, notes))
          // Checked last, when both tenants have made notes.
          .register(NoteService, notes),
      )
    } finally {
      await dataSource.destroy()
    }
  }

  it('finds nothing in a list that shows every tenant what another tenant made', async () => {
    expect(found(await check((dataSource) => new Publishers(dataSource)))).to.deep.equal([])
  })

  it("finds a tenant's string that is copied to the shared resource", async () => {
    class Copying extends Publishers {
      constructor(
        dataSource: DataSource,
        private readonly notes: Notes,
      ) {
        super(dataSource)
      }
      override async create(publisher: NewEntity<Publisher>, options?: OperationOptions) {
        await this.notes.create({ name: `notes/${randomUUID()}`, text: publisher.title ?? '', stars: 1 })
        return super.create(publisher, options)
      }
    }
    const report = await check((dataSource, notes) => new Copying(dataSource, notes))
    expect(found(report)).to.include(
      "isolation ListNotes: what another tenant wrote is in the caller's response",
    )
  })
})

describe('securityCheck of a string that one resource copies from another', function () {
  /** A payment has the title of its invoice. */
  const check = (
    describe: (stored: Stored, request: DescribePaymentRequest, call: ServerCall) => Promise<object>,
  ): Promise<SecurityReport> => {
    const stored = newStored()
    const describePayment = supportsRowAccess((request: DescribePaymentRequest, call: ServerCall) =>
      describe(stored, request, call),
    )
    const other = supportsRowAccess(() => Promise.resolve({}))
    return securityCheck(
      new ServerBuilder({ authorizer })
        .register(InvoiceService, stored.invoices)
        .register(PaymentService, stored.payments, {
          ...{ payInvoice: other, settleBalance: other, importTransfers: other, mergeBills: other },
          ...{ sumPayments: other, describePayment },
        } as never),
    )
  }
  const newStored = () => {
    const invoices = new (memoryRepositoryOf(Invoice))()
    class CopyingPayments extends memoryRepositoryOf(Payment) {
      override async create(payment: NewEntity<Payment>, options?: OperationOptions) {
        const { title } = await invoices.get(payment.invoiceId ?? '')
        return super.create({ ...payment, title }, options)
      }
    }
    return { invoices, payments: new CopyingPayments() }
  }
  type Stored = ReturnType<typeof newStored>
  const idOf = (name: string) => name.slice(name.lastIndexOf('/') + 1)

  it('finds nothing in a method that returns the copy', async () => {
    const report = await check(async ({ payments }, { name }, call) => {
      const payment = await call.restricted(payments).get(idOf(name))
      return { payment: payments.model.toMessage(payment) }
    })
    expect(found(report)).to.deep.equal([])
  })

  it('names only the resource whose own string is returned', async () => {
    const report = await check(async ({ invoices, payments }, { name }, call) => {
      await call.restricted(payments).get(idOf(name))
      const { items } = await invoices.list({ pageSize: 1000 })
      return { payment: { name, title: items.map(({ title }) => title).join() } }
    })
    const held = found(report).filter((text) => text.includes('its response contains'))
    expect(held).to.deep.equal([
      'isolation DescribePayment: its response contains a Invoice that a row-level decision excludes',
    ])
  })

  it('finds what is read from the excluded row itself', async () => {
    const report = await check(async ({ invoices, payments }, { name }, call) => {
      const payment = await call.restricted(payments).get(idOf(name))
      const { title } = await invoices.get(payment.invoiceId)
      return { payment: { name, title } }
    })
    expect(found(report)).to.include(
      'isolation DescribePayment: its response contains a Invoice that a row-level decision excludes',
    )
  })
})
