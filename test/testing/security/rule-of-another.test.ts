import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import type { ServerCall } from '../../../lib/call.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { type Authorizer, ServerBuilder, supportsRowAccess } from '../../../lib/server/index.js'
import { securityCheck, type SecurityReport } from '../../../lib/testing/index.js'
import { Invoice, Payment } from '../../support/entities/edition.js'
import {
  type DescribePaymentRequest,
  type ImportTransfersRequest,
  InvoiceService,
  type Invoice as InvoiceMessage,
  type MergeBillsRequest,
  type PayInvoiceRequest,
  type Payment as PaymentMessage,
  PaymentService,
  type SettleBalanceRequest,
  type SumPaymentsRequest,
} from '../../support/gen/bills_pb.js'

const authorizer: Authorizer = { decidesByRow: true, authorize: () => false }

/** What a function reads invoices and payments with. */
interface Reads {
  readonly invoices: Pick<Repository<Invoice>, 'get' | 'batchGet'>
  readonly payments: Pick<Repository<Payment>, 'get' | 'list'>
}

type Functions = ReturnType<typeof functions>

/** The methods of payments; `reads` says through which repositories they go. */
function functions(stored: Stored, reads: (call: ServerCall) => Reads) {
  const { invoices, payments } = stored
  const idOf = (name: string) => name.slice(name.lastIndexOf('/') + 1)
  const paymentMessage = (payment: Payment) => payments.model.toMessage<PaymentMessage>(payment)
  return {
    payInvoice: async ({ name, amount }: PayInvoiceRequest, call: ServerCall) => {
      const invoice = await reads(call).invoices.get(idOf(name))
      const payment = { invoiceId: invoice.id, amount, title: 'paid' }
      return paymentMessage(await payments.create(payment))
    },
    settleBalance: async ({ against }: SettleBalanceRequest, call: ServerCall) => ({
      amount: (await reads(call).invoices.get(idOf(against))).amount,
    }),
    importTransfers: async ({ transfers }: ImportTransfersRequest, call: ServerCall) => {
      const ids = transfers.map(({ invoiceId }) => invoiceId)
      return { amount: sum(await reads(call).invoices.batchGet([...new Set(ids)])) }
    },
    mergeBills: async ({ sources }: MergeBillsRequest, call: ServerCall) => ({
      amount: sum(await reads(call).invoices.batchGet([...new Set(sources.map(idOf))])),
    }),
    sumPayments: async ({ parent }: SumPaymentsRequest, call: ServerCall) => {
      await reads(call).invoices.get(idOf(parent))
      const page = await reads(call).payments.list({ pageSize: 1000 })
      const items = page.items.filter(({ invoiceId }) => invoiceId === idOf(parent))
      return { amount: sum(items), titles: items.map(({ title }) => title) }
    },
    describePayment: async ({ name }: DescribePaymentRequest, call: ServerCall) => {
      const payment = await reads(call).payments.get(idOf(name))
      const invoice = await reads(call)
        .invoices.get(payment.invoiceId)
        .catch(() => undefined)
      return {
        payment: paymentMessage(payment),
        ...(invoice && { invoice: invoices.model.toMessage<InvoiceMessage>(invoice) }),
      }
    },
  }
}

const sum = (rows: readonly { readonly amount: bigint }[]): bigint =>
  rows.reduce((all, { amount }) => all + amount, 0n)

const newStored = () => ({
  invoices: new (memoryRepositoryOf(Invoice))(),
  payments: new (memoryRepositoryOf(Payment))(),
})
type Stored = ReturnType<typeof newStored>

describe('securityCheck of methods whose rule names another resource', function () {
  const check = (change: (safe: Functions, stored: Stored) => object): Promise<SecurityReport> => {
    const stored = newStored()
    const { invoices, payments } = stored
    const restricted = functions(stored, (call) => ({
      invoices: call.restricted(invoices),
      payments: call.restricted(payments),
    }))
    const marked = Object.fromEntries(
      Object.entries({ ...restricted, ...change(restricted, stored) }).map(([name, fn]) => [
        name,
        supportsRowAccess(fn as object),
      ]),
    )
    return securityCheck(
      new ServerBuilder({ authorizer })
        .register(InvoiceService, invoices)
        .register(PaymentService, payments, marked as never),
    )
  }
  const raw = (stored: Stored) => functions(stored, () => stored)
  const found = ({ findings }: SecurityReport) => [
    ...new Set(findings.map(({ check, method }) => `${check} ${method.split('/').at(-1)}`)),
  ]

  const untried = ({ notChecked }: SecurityReport) =>
    notChecked.map(
      ({ method, reason }) =>
        `${method.split('/').at(-1)}: ${reason.replace('not tried: other values of ', '')}`,
    )

  it('finds nothing where each repository is restricted', async () => {
    const report = await check(() => ({}))
    expect([report.findings, untried(report)]).to.deep.equal([
      [],
      ['ImportTransfers: transfers.amount', 'PayInvoice: amount', 'SettleBalance: reason'],
    ])
  })

  const HOLES = {
    'the name of an invoice, and the rule of a payment': 'payInvoice',
    'a reference beside what the call is about': 'settleBalance',
    'a reference inside of a message of a list': 'importTransfers',
    'several names': 'mergeBills',
    'the parent of what is counted': 'sumPayments',
    'a resource in the response that nothing names': 'describePayment',
  } as const
  for (const [what, name] of Object.entries(HOLES))
    it(`finds ${what}, read without restriction`, async () => {
      const report = await check((_, stored) => ({ [name]: raw(stored)[name] }))
      expect(found(report)).to.deep.equal([`isolation ${name[0]?.toUpperCase()}${name.slice(1)}`])
    })

  it('finds a function that restricts the first of several names alone', async () => {
    const report = await check((safe, stored) => ({
      mergeBills: async (request: MergeBillsRequest, call: ServerCall) => {
        await safe.mergeBills({ ...request, sources: request.sources.slice(0, 1) }, call)
        return raw(stored).mergeBills(request, call)
      },
    }))
    expect(found(report)).to.deep.equal(['isolation MergeBills'])
  })

  it('finds rows of the list below a parent that may be read', async () => {
    const report = await check((_safe, stored) => ({
      sumPayments: functions(stored, (call) => ({
        invoices: call.restricted(stored.invoices),
        payments: stored.payments,
      })).sumPayments,
    }))
    expect(found(report)).to.deep.equal(['isolation SumPayments'])
  })

  it("finds another tenant's resource in a response, also where no text tells it", async () => {
    const report = await check((safe, stored) => ({
      describePayment: async (request: DescribePaymentRequest, call: ServerCall) => {
        const described = await safe.describePayment(request, call)
        const all = await RequestContext.asSystem(() => stored.invoices.list({ pageSize: 1000 }))
        const foreign = all.items.find(({ accountId }) => accountId !== call.context.tenant)
        const { name = '', amount = 0n } = foreign
          ? stored.invoices.model.toMessage<InvoiceMessage>(foreign)
          : {}
        return { ...described, invoice: { name, amount } }
      },
    }))
    expect(found(report)).to.deep.equal(['isolation DescribePayment'])
    expect(report.findings.map(({ text }) => text)).to.include(
      "its response contains a Invoice that the caller's own GetInvoice does not return",
    )
  })

  it('finds a function without the mark, which runs where its rule is allowed as a whole', async () => {
    const stored = newStored()
    const builder = new ServerBuilder({ authorizer })
      .register(InvoiceService, stored.invoices)
      .register(PaymentService, stored.payments, raw(stored) as never)
    expect(found(await securityCheck(builder))).to.include.members([
      'isolation PayInvoice',
      'isolation SettleBalance',
      'isolation ImportTransfers',
      'isolation MergeBills',
      'isolation SumPayments',
      'isolation DescribePayment',
    ])
  })
})
