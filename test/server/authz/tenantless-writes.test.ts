import {
  create,
  type DescMethod,
  type DescService,
  type MessageInitShape,
  setExtension,
} from '@bufbuild/protobuf'
import { MethodOptionsSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import { HttpRuleSchema } from 'ashlar-annotations/google/api/http_pb.js'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { isRepeatable } from '../../../lib/client/retries/repeatable.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import {
  type Authorizer,
  devAuthorizer,
  roleAuthorizer,
  type RolePolicy,
  ServerBuilder,
} from '../../../lib/server/index.js'
import { sharedWrites } from '../../../lib/server/row-access/tenantless-writes.js'
import { securityCheck } from '../../../lib/testing/index.js'
import { InvoiceSchema, InvoiceService, PaymentSchema, PaymentService } from '../../support/gen/bills_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { partly, recordingLogger, startServer } from '../../support/servers/server.js'

@Resource({ message: InvoiceSchema, shared: true })
@Entity('invoices')
class Invoice {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column('bigint') amount!: bigint
}

@Resource({ message: PaymentSchema, shared: true })
@Entity('payments')
class Payment {
  @PrimaryColumn() id!: string
  @Column() invoiceId!: string
  @Column() title!: string
  @Column('bigint') amount!: bigint
}

const [OK, NOT_FOUND, DENIED] = [0, 5, 7] as const
const EDITOR = [{ verbs: ['*'], resource: '*' }]
const staff = (roles: RolePolicy['roles'], tenant = '*'): RolePolicy => ({
  roles,
  bindings: [{ tenant, subjects: ['group:staff'], roles: Object.keys(roles) }],
})

const methods = partly(PaymentService, {
  payInvoice: () => ({ name: 'invoices/a/payments/b' }),
  sumPayments: () => ({ amount: 7n }),
})
const registered = (builder: ServerBuilder) =>
  builder
    .register(InvoiceService, new (memoryRepositoryOf(Invoice))())
    .register(PaymentService, new (memoryRepositoryOf(Payment))(), methods)

describe('writes of what all tenants share', () => {
  const calls = async (authorizer: Authorizer) => {
    const logger = recordingLogger()
    const running = await startServer(registered, { authorizer, logger })
    const [invoices, payments] = [InvoiceService, PaymentService].map(
      (service) => new ForeignClient(service, running.grpc),
    ) as [ForeignClient, ForeignClient]
    const who = { 'account-id': 'acme', subject: 'ann', groups: 'staff' }
    const code = async (client: ForeignClient, method: string, request: object) =>
      (await client.unary(method, request, who)).code
    try {
      const codes = {
        create: await code(invoices, 'CreateInvoice', { invoice: { title: 'x' }, invoice_id: 'a' }),
        get: await code(invoices, 'GetInvoice', { name: 'invoices/none' }),
        own: await code(payments, 'PayInvoice', { name: 'invoices/a' }),
        'own, by GET': await code(payments, 'SumPayments', { parent: 'invoices/a' }),
      }
      return { codes, records: logger.records }
    } finally {
      invoices.close()
      payments.close()
      await running.stop()
    }
  }
  const READS = { get: NOT_FOUND, 'own, by GET': OK }

  it('are not covered by a role for all resources, whoever calls', async () => {
    const { codes } = await calls(roleAuthorizer(staff({ editor: EDITOR })))
    expect(codes).to.deep.equal({ ...READS, create: DENIED, own: DENIED })
  })

  it('are covered by a permission that names the resource', async () => {
    const keeper = ['invoice', 'payment'].map((resource) => ({ verbs: ['*'], resource }))
    const { codes } = await calls(roleAuthorizer(staff({ editor: EDITOR, keeper })))
    expect(codes).to.deep.equal({ ...READS, create: OK, own: OK })
  })

  it('are covered by * of the development authorizer', async () => {
    const grant = { tenant: '*', subjects: ['*'], verbs: ['*'], resource: '*' }
    const { codes } = await calls(devAuthorizer([grant]))
    expect(codes).to.deep.equal({ ...READS, create: OK, own: OK })
  })

  it('are reported at startup, with the roles that may make them', async () => {
    const keeper = [{ verbs: ['create'], resource: 'invoice' }]
    const { records } = await calls(roleAuthorizer(staff({ editor: EDITOR, keeper })))
    const told = records.find(({ message }) => message.startsWith('roles that may write shared resources'))
    const writes = told?.fields['writes'] as { method: string; roles: string[] }[]
    const named: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
      writes.map(({ method, roles }) => [method.split('/').at(-1) ?? '', roles] as const),
    )
    expect(named).to.deep.include({ CreateInvoice: ['keeper'], CreatePayment: [], PayInvoice: [] })
    expect(named).to.not.have.any.keys('GetInvoice', 'GetPayment', 'SumPayments', 'DescribePayment')
    expect(told?.level).to.equal('warn')
  })

  it('are found by securityCheck if callers of any tenant may make them', async () => {
    const keeper = [{ verbs: ['*'], resource: 'invoice' }]
    const checked = async (tenant: string, sharedWrites: readonly string[] = []) => {
      const authorizer = roleAuthorizer(staff({ keeper }, tenant))
      const builder = new ServerBuilder({ authorizer })
      builder.register(InvoiceService, new (memoryRepositoryOf(Invoice))())
      const { findings } = await securityCheck(builder, { as: { groups: ['staff'] }, sharedWrites })
      return findings.map(({ check, method }) => `${check} ${method.split('/').at(-1)}`)
    }
    expect(await checked('*')).to.deep.equal(['isolation CreateInvoice'])
    expect(await checked('keepers')).to.deep.equal([])
    expect(await checked('*', ['/bills.v1.InvoiceService/CreateInvoice'])).to.deep.equal([])
  })
})

describe('a method of the application', () => {
  const withRule = (method: DescMethod, rule: MessageInitShape<typeof HttpRuleSchema>): DescMethod => {
    const options = create(MethodOptionsSchema)
    setExtension(options, http, create(HttpRuleSchema, rule))
    return { ...method, proto: { ...method.proto, options } }
  }
  const get = { pattern: { case: 'get', value: '/v1/payments:sum' } } as const
  const post = { pattern: { case: 'post', value: '/v1/payments:sum' } } as const
  const repository = new (memoryRepositoryOf(Payment))()

  const cases: [what: string, rule: MessageInitShape<typeof HttpRuleSchema>, reads: boolean][] = [
    ['has a GET', get, true],
    ['has two GETs', { ...get, additionalBindings: [get] }, true],
    ['has a GET, and a POST as well', { ...get, additionalBindings: [get, post] }, false],
    ['has a POST, and a GET as well', { ...post, additionalBindings: [get] }, false],
  ]
  for (const [what, rule, reads] of cases)
    it(`${reads ? 'only reads' : 'may write'} if it ${what}`, () => {
      const method = withRule(PaymentService.method.sumPayments, rule)
      const service = { ...PaymentService, methods: [method] }
      const rules = (method: string) => ({ method, verb: 'list', resource: 'payment' })
      const writes = sharedWrites([[service as DescService, { repository }]], rules)
      expect([writes.length, isRepeatable(method)]).to.deep.equal([reads ? 0 : 1, reads])
    })
})
