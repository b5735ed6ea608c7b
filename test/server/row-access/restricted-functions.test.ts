import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { AuthorizationRequest } from '../../../lib/server/authz/authorizer.js'
import type { Decision } from '../../../lib/server/authz/decision.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { Invoice, Payment } from '../../support/entities/edition.js'
import { InvoiceService, PaymentService } from '../../support/gen/bills_pb.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { echoService } from '../../support/grpc/echo.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'

const OK = 0

describe('call.restricted() in a function without row access', () => {
  const invoices = new (memoryRepositoryOf(Invoice))()
  const payments = new (memoryRepositoryOf(Payment))()
  const titles = async (call: ServerCall) => {
    const { items } = await call.restricted(invoices).list()
    return items.map(({ title }) => title).join()
  }
  const own = {
    echo: async (_request: object, call: ServerCall) => ({ text: await titles(call) }),
    count: async function* (_request: object, call: ServerCall) {
      yield { text: await titles(call) }
    },
    ping: async (_request: object, call: ServerCall) => ({ text: await titles(call) }),
    collect: async (_requests: object, call: ServerCall) => ({ text: await titles(call) }),
    chat: async function* (_requests: object, call: ServerCall) {
      yield { text: await titles(call) }
    },
  }
  let listed = ''
  const getPayment = wrapped({}, async (request: object, call: ServerCall, standard) => {
    listed = await titles(call)
    return standard(request)
  })
  const serve = (authorizer: object) =>
    startServer(
      (builder) =>
        builder
          .register(InvoiceService, invoices)
          .register(PaymentService, payments, partly(PaymentService, { getPayment }))
          .register(EchoService, partly(EchoService, { ...echoService, ...own })),
      { authorizer: authorizer as never, gateway: { connect: true } },
    )
  const mine = ({ type }: AuthorizationRequest): Decision =>
    type === 'invoice' ? { where: filter`title = ${'mine'}` } : true
  let byRow: RunningServer
  let asWhole: RunningServer
  before(async () => {
    byRow = await serve({ decidesByRow: true, authorize: mine })
    asWhole = await serve({ authorize: () => true })
    await RequestContext.as({ tenant: 'acme', subject: 'test' }, async () => {
      for (const id of ['mine', 'theirs']) await invoices.create({ id, title: id, amount: 7n })
    })
  })
  after(async () => {
    await byRow?.stop()
    await asWhole?.stop()
  })

  const METHODS = ['Echo', 'Count', 'Collect', 'Chat']
  const called = async ({ grpc }: RunningServer): Promise<Outcome[]> => {
    const client = new ForeignClient(EchoService, grpc)
    try {
      return await Promise.all(
        METHODS.map((method) =>
          method === 'Echo'
            ? client.unary(method, { text: 'x' }, ALICE)
            : client.stream(method, [{ text: 'x' }], ALICE),
        ),
      )
    } finally {
      client.close()
    }
  }
  it('restricts in a unary function and in every kind of stream', async () => {
    const outcomes = await called(byRow)
    expect(
      outcomes.map(({ code, answers }) => [code, answers.map((each) => (each as { text: string }).text)]),
    ).to.deep.equal(METHODS.map((method) => [OK, method === 'Echo' ? [] : ['mine']]))
  })

  it('restricts on HTTP and Connect too', async () => {
    const { http } = byRow
    for (const path of ['/v1/echo', `/${EchoService.typeName}/Echo`]) {
      const response = await fetch(http + path, post(ALICE, { text: 'x' }))
      expect(await response.json()).to.deep.equal({ text: 'mine' })
    }
  })

  it('throws in a public method, about which the authorizer is not asked', async () => {
    expect((await fetch(`${byRow.http}/v1/ping`, { headers: ALICE })).status).to.equal(500)
    const errors = JSON.stringify(byRow.records.filter(({ level }) => level === 'error'))
    expect(errors).to.contain('call.restricted() cannot restrict a public method')
  })

  it('returns the repository itself if the authorizer decides about calls as a whole', async () => {
    const outcomes = await called(asWhole)
    expect(outcomes.map(({ code }) => code)).to.deep.equal(METHODS.map(() => OK))
  })

  it('restricts another resource in a function around a read that is allowed as a whole', async () => {
    const client = new ForeignClient(PaymentService, byRow.grpc)
    await client.unary('GetPayment', { name: 'invoices/mine/payments/none' }, ALICE)
    client.close()
    expect(listed).to.equal('mine')
  })
})
