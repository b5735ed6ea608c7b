import { expect } from 'chai'
import { ClientError, Status } from 'nice-grpc'
import { CustomerService, OrderService, ProductService } from '../../../examples/orders/gen/orders_pb.js'
import { post } from '../../support/servers/server.js'
import { type Caller, serveOrders, type ServedOrders } from './served-orders.js'

const ADA: Caller = { tenant: 'acme', subject: 'ada', groups: ['staff', 'warehouse'] }
const LINE = { productId: 'bolt', quantity: 1 }

const MANY = Array.from({ length: 101 }, (_, i) => ({ productId: `p${i}`, quantity: 1 }))

interface Case {
  readonly name: string
  readonly grpc: (served: ServedOrders) => Promise<unknown>
  /** Method, path and body. */
  readonly http: readonly [string, string, object]
  /** What is said, and of which fields. */
  readonly says: string
  readonly fields: readonly string[]
  readonly code?: Status
}

const CASES: readonly Case[] = [
  {
    name: 'a customer without a name, and with no e-mail address',
    grpc: (served) => served.client(CustomerService, ADA).createCustomer({ customer: { email: 'nowhere' } }),
    http: ['POST', '/v1/customers', { email: 'nowhere' }],
    says: 'customer.display_name: is required (and 1 more)',
    fields: ['customer.display_name', 'customer.email'],
  },
  {
    name: 'a negative price and stock',
    grpc: (served) =>
      served
        .client(ProductService, ADA)
        .createProduct({ product: { displayName: 'Cog', priceCents: -1n, stock: -1 } }),
    http: ['POST', '/v1/products', { displayName: 'Cog', priceCents: '-1', stock: -1 }],
    says: 'product.price_cents: must be greater than or equal to 0',
    fields: ['product.price_cents', 'product.stock'],
  },
  {
    name: 'a stock that a client sets',
    grpc: (served) =>
      served
        .client(ProductService, ADA)
        .updateProduct({ product: { id: 'bolt', stock: 1000 }, updateMask: ['stock'] }),
    http: ['PATCH', '/v1/products/bolt?update_mask=stock', { stock: 1000 }],
    says: 'update_mask: stock cannot be written',
    fields: ['update_mask'],
  },
  {
    name: 'a stock that no field can hold',
    grpc: (served) => served.client(ProductService, ADA).restockProduct({ id: 'full', quantity: 1_000_000 }),
    http: ['POST', '/v1/products/full:restock', { quantity: 1_000_000 }],
    says: 'stock',
    fields: ['stock'],
  },
  {
    name: 'an order without a customer and without lines',
    grpc: (served) => served.client(OrderService, ADA).placeOrder({}),
    http: ['POST', '/v1/orders:place', {}],
    says: 'customer_id: is required (and 1 more)',
    fields: ['customer_id', 'lines'],
  },
  {
    name: 'lines of nothing',
    grpc: (served) =>
      served.client(OrderService, ADA).placeOrder({
        customerId: 'c',
        lines: [LINE, { productId: '', quantity: 1 }, { productId: 'cog', quantity: 0 }],
      }),
    http: [
      'POST',
      '/v1/orders:place',
      { customerId: 'c', lines: [LINE, { quantity: 1 }, { productId: 'cog' }] },
    ],
    says: 'lines[1].product_id: is required (and 1 more)',
    fields: ['lines[1].product_id', 'lines[2].quantity'],
  },
  {
    name: 'more lines than an order has',
    grpc: (served) => served.client(OrderService, ADA).placeOrder({ customerId: 'c', lines: MANY }),
    http: ['POST', '/v1/orders:place', { customerId: 'c', lines: MANY }],
    says: 'lines: must contain no more than 100 item(s)',
    fields: ['lines'],
  },
  {
    name: 'two lines of a product',
    grpc: (served) => served.client(OrderService, ADA).placeOrder({ customerId: 'c', lines: [LINE, LINE] }),
    http: ['POST', '/v1/orders:place', { customerId: 'c', lines: [LINE, LINE] }],
    says: 'lines: a product has one line',
    fields: ['lines'],
  },
  {
    name: 'a customer who does not exist',
    grpc: (served) => served.client(OrderService, ADA).placeOrder({ customerId: 'nobody', lines: [LINE] }),
    http: ['POST', '/v1/orders:place', { customerId: 'nobody', lines: [LINE] }],
    says: 'customer_id: there is no such customer',
    fields: ['customer_id'],
  },
  {
    name: 'a product that does not exist',
    grpc: (served) =>
      served
        .client(OrderService, ADA)
        .placeOrder({ customerId: 'c', lines: [LINE, { productId: 'cog', quantity: 1 }] }),
    http: ['POST', '/v1/orders:place', { customerId: 'c', lines: [LINE, { productId: 'cog', quantity: 1 }] }],
    says: 'lines[1].product_id: does not exist',
    fields: ['lines[1].product_id'],
  },
  {
    name: 'more than there is',
    grpc: (served) =>
      served
        .client(OrderService, ADA)
        .placeOrder({ customerId: 'c', lines: [{ productId: 'bolt', quantity: 6 }] }),
    http: ['POST', '/v1/orders:place', { customerId: 'c', lines: [{ productId: 'bolt', quantity: 6 }] }],
    says: 'product bolt: only 5 left',
    fields: [],
    code: Status.FAILED_PRECONDITION,
  },
]

describe('what orders refuse', function () {
  let served: ServedOrders

  before(async () => {
    served = await serveOrders('sqlite')
    const products = served.client(ProductService, ADA)
    await served
      .client(CustomerService, ADA)
      .createCustomer({ customerId: 'c', customer: { displayName: 'C', email: 'c@example.com' } })
    await products.createProduct({ productId: 'bolt', product: { displayName: 'Bolt', stock: 5 } })
    const full = { displayName: 'Full', stock: 2 ** 31 - 1 }
    await products.createProduct({ productId: 'full', product: full })
  })
  after(() => served?.stop())

  for (const { name, grpc, http, says, fields, code = Status.INVALID_ARGUMENT } of CASES) {
    it(`${name}: ${Status[code]} over gRPC`, async () => {
      const error: unknown = await grpc(served).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(ClientError)
      expect(Status[(error as ClientError).code]).to.equal(Status[code])
      expect((error as ClientError).details).to.include(says)
    })

    it(`${name}: 400 over HTTP, with the fields`, async () => {
      const [method, path, body] = http
      const response = await served.fetch(ADA, path, post({}, body, method))
      const told = (await response.json()) as {
        message: string
        details: { fieldViolations?: { field: string }[] }[]
      }
      expect([response.status, told.message]).to.satisfy(
        ([status, text]: [number, string]) => status === 400 && text.includes(says),
      )
      const violations = told.details.flatMap(({ fieldViolations = [] }) => fieldViolations)
      expect(violations.map(({ field }) => field)).to.deep.equal(fields)
    })
  }

  it('leaves the stock alone', async () => {
    const { products } = await served.client(ProductService, ADA).listProducts({ filter: 'id = "bolt"' })
    expect(products.map(({ stock }) => stock)).to.deep.equal([5])
  })
})
