import { clone, create, setExtension } from '@bufbuild/protobuf'
import {
  DescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
  file_google_protobuf_wrappers,
  MethodDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'
import { resource_reference, ResourceReferenceSchema } from 'ashlar-annotations/google/api/resource_pb.js'
import { expect } from 'chai'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import { type Authorizer, ServerBuilder, supportsRowAccess } from '../../../lib/server/index.js'
import { securityCheck, type SecurityReport } from '../../../lib/testing/index.js'
import { Invoice, Payment } from '../../support/entities/edition.js'
import { InvoiceService, PaymentService } from '../../support/gen/bills_pb.js'
import { altered } from '../../support/grpc/altered.js'

const authorizer: Authorizer = { decidesByRow: true, authorize: () => false }

type Invoices = Pick<Repository<Invoice>, 'get' | 'list'>
type Payments = Pick<Repository<Payment>, 'get' | 'list'>
interface Reads {
  readonly invoices: Invoices
  readonly payments: Payments
}

interface Told {
  readonly amount?: bigint
  readonly titles?: readonly string[]
}

const idOf = (name: string) => name.slice(name.lastIndexOf('/') + 1)
const all = async <T>(repository: { list(list: object): Promise<{ items: T[] }> }) =>
  (await repository.list({ pageSize: 1000 })).items
const below = async ({ payments }: Reads, parent: string) =>
  (await all(payments)).filter(({ invoiceId }) => invoiceId === idOf(parent))
/** Some rows of the check have the highest number that there is. */
const sum = (rows: readonly { readonly amount: bigint }[]) =>
  BigInt.asIntN(
    64,
    numbers(rows).reduce((all, amount) => all + amount, 0n),
  )
const smaller = (one: bigint, other: bigint) => (one < other ? one : other)
const numbers = (rows: readonly { readonly amount: bigint }[]) => rows.map(({ amount }) => amount)

/** What a method makes of the payments below an invoice. */
const OF_BELOW: Readonly<Record<string, (rows: readonly Payment[]) => Told>> = {
  'their sum': (rows) => ({ amount: sum(rows) }),
  'how many there are': (rows) => ({ amount: BigInt(rows.length) }),
  'how many, in a text': (rows) => ({ titles: [`paid ${rows.length} times`] }),
  'the highest number': (rows) => ({
    amount: -numbers(rows)
      .map((one) => -one)
      .reduce(smaller, 0n),
  }),
  'the lowest number': (rows) => ({ amount: numbers(rows).reduce(smaller, 1n << 62n) }),
  'whether there are any': (rows) => ({ titles: rows.length > 0 ? ['yes'] : [] }),
  'their texts in capitals': (rows) => ({ titles: rows.map(({ title }) => title.toUpperCase()) }),
  'their texts with a prefix, backwards': (rows) => ({
    titles: rows.map(({ title }) => `of ${[...title].reverse().join('')}`),
  }),
  'a part of each text': (rows) => ({ titles: rows.map(({ title }) => title.slice(1, 3)) }),
  'the keys alone': (rows) => ({ titles: rows.map(({ id }) => id) }),
  'how long their texts are': (rows) => ({
    amount: BigInt(rows.reduce((length, { title }) => length + title.length, 0)),
  }),
}

/** What a method makes of the invoice that a payment is of. */
const OF_ABOVE: Readonly<Record<string, (invoice: Invoice) => string>> = {
  'its number': ({ amount }) => String(amount),
  'its text in capitals': ({ title }) => title.toUpperCase(),
  'the beginning of its text': ({ title }) => title.slice(0, 2),
  'whether its number is high': ({ amount }) => (amount > 1000n ? 'high' : 'low'),
}

/** Names in the request of one method. */
interface Naming {
  readonly targets: Readonly<Record<string, string>>
  readonly shares: Readonly<Record<string, bigint>>
  readonly into?: string
}

const NAMES: Readonly<Record<string, (request: Naming) => readonly string[]>> = {
  'values of a map': ({ targets }) => Object.values(targets),
  'keys of a map': ({ shares }) => Object.keys(shares),
  'a wrapper': ({ into = '' }) => [into],
}

const newStored = () => ({
  invoices: new (memoryRepositoryOf(Invoice))(),
  payments: new (memoryRepositoryOf(Payment))(),
})
type Stored = ReturnType<typeof newStored>
type Reading = (stored: Stored, call: ServerCall) => Reads

/** As it should be, and as it should not. */
const restricted: Reading = ({ invoices, payments }, call) => ({
  invoices: call.restricted(invoices),
  payments: call.restricted(payments),
})
const raw: Reading = (stored) => stored

/** A method, by its messages. `reads` is what it may get wrong. */
interface Case {
  readonly what: string
  readonly input: string
  readonly output: string
  readonly run: (reads: Reading) => (stored: Stored, request: never, call: ServerCall) => Promise<object>
}

let calls = 0
const CASES: readonly Case[] = [
  ...Object.entries(OF_BELOW).map(([what, made]): Case => ({
    what: `${what} of what is below`,
    input: 'SumPaymentsRequest',
    output: 'Total',
    run:
      (reads) =>
      async (stored, { parent }: { parent: string }, call) => {
        await call.restricted(stored.invoices).get(idOf(parent))
        return made(await below(reads(stored, call), parent))
      },
  })),
  ...Object.entries(OF_ABOVE).map(([what, made]): Case => ({
    what: `${what} of what is above`,
    input: 'DescribePaymentRequest',
    output: 'DescribePaymentResponse',
    run:
      (reads) =>
      async (stored, { name }: { name: string }, call) => {
        const payment = await call.restricted(stored.payments).get(idOf(name))
        const { invoices } = reads(stored, call)
        const invoice = await invoices.get(payment.invoiceId).catch(() => undefined)
        return { payment: { name, title: invoice === undefined ? '' : made(invoice) } }
      },
  })),
  {
    what: 'a sum over all tenants',
    input: 'SettleBalanceRequest',
    output: 'Total',
    run:
      (reads) =>
      async (stored, { against }: { against: string }, call) => {
        const { invoices } = restricted(stored, call)
        await invoices.get(idOf(against))
        const isRaw = reads === raw
        return {
          amount: sum(await (isRaw ? RequestContext.asSystem(() => all(stored.invoices)) : all(invoices))),
        }
      },
  },
  {
    what: 'a sum of named rows, of which missing ones are left out',
    input: 'MergeBillsRequest',
    output: 'Total',
    run:
      (reads) =>
      async (stored, { sources }: { sources: readonly string[] }, call) => {
        const { invoices } = reads(stored, call)
        const rows = await Promise.all(sources.map((name) => invoices.get(idOf(name)).catch(() => undefined)))
        return { amount: sum(rows.filter((row) => row !== undefined)) }
      },
  },
  {
    what: 'how many there are, in a header, where the request names nothing',
    input: 'Nothing',
    output: 'Total',
    run: (reads) => async (stored, _request, call) => {
      call.headers.set('x-count', String((await all(reads(stored, call).payments)).length))
      return {}
    },
  },
  ...Object.keys(NAMES).map((which): Case => ({
    what: `rows that are named by ${which}`,
    input: 'Naming',
    output: 'Total',
    run: (reads) => async (stored, request: Naming, call) => {
      let amount = 0n
      for (const [one, names] of Object.entries(NAMES)) {
        const { invoices } = (one === which ? reads : restricted)(stored, call)
        for (const name of names(request)) amount += (await invoices.get(idOf(name))).amount
      }
      return { amount }
    },
  })),
]

/** A method that does nothing wrong, and returns what changes by itself. */
const CHANGING: Case = {
  what: 'clocks, ids, and rows that its calls create',
  input: 'PayInvoiceRequest',
  output: 'Payment',
  run:
    () =>
    async (stored, { name, amount }: { name: string; amount: bigint }, call) => {
      const { id } = await call.restricted(stored.invoices).get(idOf(name))
      await stored.payments.create({ invoiceId: id, amount, title: 'paid' })
      const own = await below(restricted(stored, call), name)
      return {
        name: `${name}/payments/${++calls}`,
        title: `${new Date().toISOString()} ${Date.now()} ${Math.random()} of ${own.length}`,
        amount: sum(own),
      }
    },
}

/** The name of a method says what `name` in its request is of. */
const OF: Readonly<Record<string, string>> = {
  DescribePaymentRequest: 'Payment',
  PayInvoiceRequest: 'Invoice',
}
const nameOf = (cases: readonly Case[], one: Case) => `Tell${cases.indexOf(one)}${OF[one.input] ?? ''}`

/** GetPayment, CreatePayment, and a method for each case. */
const serviceOf = (cases: readonly Case[]) =>
  altered(
    PaymentService,
    ({ file, message, method }) => {
      const own = file.service.find(({ name }) => name === 'PaymentService')
      if (own === undefined) return
      const like = method('SumPayments')
      own.method = own.method.filter(({ name }) => name === 'GetPayment' || name === 'CreatePayment')
      file.messageType.push(create(DescriptorProtoSchema, { name: 'Nothing' }), namingMessage())
      for (const one of cases) {
        const added = clone(MethodDescriptorProtoSchema, like)
        added.name = nameOf(cases, one)
        added.inputType = `.bills.v1.${one.input}`
        added.outputType = `.bills.v1.${one.output}`
        delete added.options
        own.method.push(added)
      }
      expect(message('Total').name).to.equal('Total')
    },
    [file_google_protobuf_wrappers],
  )

/** Names in maps, by either side, and in a wrapper. */
const namingMessage = () => {
  const options = () => {
    const made = create(FieldOptionsSchema)
    setExtension(
      made,
      resource_reference,
      create(ResourceReferenceSchema, { type: 'bills.example.com/Invoice' }),
    )
    return made
  }
  const entry = (name: string, value: Type) =>
    create(DescriptorProtoSchema, {
      name,
      field: [
        { name: 'key', number: 1, type: Type.STRING, label: Label.OPTIONAL },
        { name: 'value', number: 2, type: value, label: Label.OPTIONAL },
      ],
      options: { mapEntry: true },
    })
  const field = (name: string, number: number, label: Label, typeName: string) => ({
    ...{ name, number, type: Type.MESSAGE, label, typeName },
    options: options(),
  })
  return create(DescriptorProtoSchema, {
    name: 'Naming',
    nestedType: [entry('TargetsEntry', Type.STRING), entry('SharesEntry', Type.INT64)],
    field: [
      field('targets', 1, Label.REPEATED, '.bills.v1.Naming.TargetsEntry'),
      field('shares', 2, Label.REPEATED, '.bills.v1.Naming.SharesEntry'),
      field('into', 3, Label.OPTIONAL, '.google.protobuf.StringValue'),
    ],
  })
}

describe('securityCheck of values that are made of rows', function () {
  const check = (cases: readonly Case[], reads: Reading): Promise<SecurityReport> => {
    const stored = newStored()
    const service = serviceOf(cases)
    const methods = cases.map((one) => {
      const run = one.run(reads)
      const fn = (request: never, call: ServerCall) => run(stored, request, call)
      return [`t${nameOf(cases, one).slice(1)}`, supportsRowAccess(fn as never)] as const
    })
    const rules = cases.map((one) => ({
      method: `/bills.v1.PaymentService/${nameOf(cases, one)}`,
      verb: 'tell',
      resource: 'payment',
    }))
    return securityCheck(
      new ServerBuilder({ authorizer })
        .register(InvoiceService, stored.invoices)
        .register(service, stored.payments, Object.fromEntries(methods) as never)
        .rules(...rules),
    )
  }

  it('finds nothing where each repository is restricted, nor what changes by itself', async () => {
    const report = await check([...CASES, CHANGING], restricted)
    expect(report.findings).to.deep.equal([])
    expect(report.notChecked.map(({ reason }) => reason)).to.deep.equal([
      'not tried: other values of reason',
      'not tried: other values of amount',
    ])
  })

  it('finds each of them where a repository is not restricted', async () => {
    const { findings } = await check([...CASES, CHANGING], raw)
    const found = new Set(findings.map(({ check: one, method }) => `${one} ${method.split('/').at(-1)}`))
    const missed = CASES.filter((one) => !found.has(`isolation ${nameOf(CASES, one)}`))
    expect(missed.map(({ what }) => what)).to.deep.equal([])
    expect(found.size).to.equal(CASES.length)
    expect(findings.map(({ text }) => text)).to.include.members([
      'what it returns in amount depends on a Payment that a row-level decision excludes',
      'what it returns in amount depends on a Invoice of another tenant',
    ])
  })
})
