import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { AuthorizationRequest } from '../../../lib/server/authz/authorizer.js'
import type { Decision } from '../../../lib/server/authz/decision.js'
import { supportsRowAccess } from '../../../lib/server/index.js'
import { Invoice, Payment } from '../../support/entities/edition.js'
import { InvoiceService, type PayInvoiceRequest, PaymentService } from '../../support/gen/bills_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, partly, startServer } from '../../support/servers/server.js'

const [OK, NOT_FOUND] = [0, 5] as const

describe('call.restricted() of a resource that the rule is not about', () => {
  const invoices = new (memoryRepositoryOf(Invoice))()
  const payments = new (memoryRepositoryOf(Payment))()
  let decide: (request: AuthorizationRequest) => Decision
  let asked: string[] = []
  let running: Awaited<ReturnType<typeof startServer>>
  let client: ForeignClient

  before(async () => {
    const payInvoice = supportsRowAccess(async ({ name }: PayInvoiceRequest, call: ServerCall) => {
      const { id } = await call.restricted(invoices).get(name.slice(name.lastIndexOf('/') + 1))
      await call.restricted(invoices).update(id, { amount: 0n }, ['amount'])
      return { name: `${name}/payments/new` }
    })
    const authorize = (request: AuthorizationRequest) => {
      asked.push(`${request.verb} ${request.resource}`)
      return decide(request)
    }
    running = await startServer(
      (builder) =>
        builder
          .register(InvoiceService, invoices)
          .register(PaymentService, payments, partly(PaymentService, { payInvoice })),
      { authorizer: { decidesByRow: true, authorize } },
    )
    client = new ForeignClient(PaymentService, running.grpc)
    await RequestContext.as({ tenant: 'acme', subject: 'test' }, async () => {
      for (const id of ['mine', 'theirs']) await invoices.create({ id, title: id, amount: 7n })
    })
  })
  after(async () => {
    client?.close()
    await running?.stop()
  })
  beforeEach(() => (asked = []))

  const pay = async (id: string) => (await client.unary('PayInvoice', { name: `invoices/${id}` }, ALICE)).code
  const mine = { where: filter`title = ${'mine'}` }

  it('asks once about its get, and not about that of the resource of the rule', async () => {
    decide = ({ type, verb }) => (verb === 'pay' ? true : type === 'invoice' && mine)
    expect([await pay('mine'), await pay('theirs'), await pay('nobodys')]).to.deep.equal([
      OK,
      NOT_FOUND,
      NOT_FOUND,
    ])
    expect(asked.slice(0, 2)).to.deep.equal(['pay payment', 'get invoice'])
    expect(new Set(asked)).to.have.keys('pay payment', 'get invoice')
    expect(asked).to.have.length(6)
  })

  it('reaches nothing where that get is denied', async () => {
    decide = ({ type }) => type !== 'invoice'
    expect(await pay('mine')).to.equal(NOT_FOUND)
  })

  it('does not hold its rows to a predicate about the resource of the rule', async () => {
    decide = ({ type }) => (type === 'payment' ? { where: filter`invoice_id = ${'none'}` } : mine)
    expect([await pay('mine'), await pay('theirs')]).to.deep.equal([OK, NOT_FOUND])
  })
})
