import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import { type Authorizer, ServerBuilder, supportsRowAccess } from '../../../lib/server/index.js'
import { securityCheck, type SecurityOptions, type SecurityReport } from '../../../lib/testing/index.js'
import { Invoice, Payment } from '../../support/entities/edition.js'
import { InvoiceService, PaymentService, type SumPaymentsRequest } from '../../support/gen/bills_pb.js'
import { rejection } from '../../support/rejection.js'

const authorizer: Authorizer = { decidesByRow: true, authorize: () => false }
const SUM = '/bills.v1.PaymentService/SumPayments'
const DEPENDS = 'what it returns in amount depends on a Payment that a row-level decision excludes'

describe('securityCheck with accept', function () {
  /** SumPayments returns the sum of all payments of an invoice, and their titles if `leaks`. */
  const check = (accept: NonNullable<SecurityOptions['accept']>, leaks = false): Promise<SecurityReport> => {
    const invoices = new (memoryRepositoryOf(Invoice))()
    const payments = new (memoryRepositoryOf(Payment))()
    const sumPayments = async ({ parent }: SumPaymentsRequest, call: ServerCall) => {
      const { id } = await call.restricted(invoices).get(parent.slice(parent.lastIndexOf('/') + 1))
      const { items } = await payments.list({ pageSize: 1000 })
      const own = items.filter(({ invoiceId }) => invoiceId === id)
      const amount = own.reduce((sum, one) => BigInt.asIntN(64, sum + one.amount), 0n)
      return { amount, titles: leaks ? own.map(({ title }) => title) : [] }
    }
    const nothing = () => Promise.resolve({})
    const methods = {
      ...{ payInvoice: nothing, settleBalance: nothing, importTransfers: nothing },
      ...{ mergeBills: nothing, describePayment: nothing, sumPayments },
    }
    return securityCheck(
      new ServerBuilder({ authorizer })
        .register(InvoiceService, invoices)
        .register(
          PaymentService,
          payments,
          Object.fromEntries(
            Object.entries(methods).map(([name, fn]) => [name, supportsRowAccess(fn as never)]),
          ) as never,
        ),
      { accept },
    )
  }

  it('moves the finding to `accepted`, with the reason', async () => {
    const { passed, findings, accepted } = await check({ [SUM]: { [DEPENDS]: 'the total is public' } })
    expect({ passed, findings, accepted }).to.deep.equal({
      passed: true,
      findings: [],
      accepted: [
        { check: 'isolation', method: SUM, transport: 'grpc', text: DEPENDS, reason: 'the total is public' },
      ],
    })
  })

  it('keeps any other finding of the same method', async () => {
    const { passed, findings } = await check({ [SUM]: { [DEPENDS]: 'the total is public' } }, true)
    expect(passed).to.equal(false)
    expect(findings.map(({ text }) => text)).to.deep.equal([
      'its response contains a Payment that a row-level decision excludes',
    ])
  })

  it('throws a TypeError for a method that the server does not have, and for a missing reason', async () => {
    await rejection(check({ '/bills.v1.PaymentService/Sum': { [DEPENDS]: 'x' } }), TypeError, 'has no method')
    await rejection(check({ [SUM]: { [DEPENDS]: ' ' } }), TypeError, 'has no reason')
  })
})
