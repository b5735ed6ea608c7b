import { expect } from 'chai'
import { ClientError, Status } from 'nice-grpc'
import {
  CustomerService,
  Order_State,
  OrderLineService,
  OrderService,
  ProductService,
} from '../../../examples/orders/gen/orders_pb.js'
import { OrderRepository } from '../../../examples/orders/order-repository.js'
import { OrderLine } from '../../../examples/orders/order-line.js'
import { RequestContext } from '../../../lib/context.js'
import { ErrConflict } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { describeOn } from '../../support/databases/backends.js'
import { post } from '../../support/servers/server.js'
import { ORDER_BACKENDS, serveOrders, type ServedOrders } from './served-orders.js'

describeOn('orders', ORDER_BACKENDS, function (backend) {
  let served: ServedOrders
  let tenants = 0

  before(async () => (served = await serveOrders(backend.name)))
  after(() => served?.stop())

  /** A tenant of its own, with a customer and products that cost a euro each. */
  const shop = async (stock: Readonly<Record<string, number>>) => {
    const tenant = `tenant-${++tenants}`
    const as = (subject: string, groups: readonly string[] = ['staff', 'managers', 'warehouse']) => {
      const caller = { tenant, subject, groups }
      return {
        customers: served.client(CustomerService, caller),
        products: served.client(ProductService, caller),
        orders: served.client(OrderService, caller),
        lines: served.client(OrderLineService, caller),
      }
    }
    const ada = as('ada')
    const email = `${tenant}@example.com`
    await ada.customers.createCustomer({ customerId: 'c', customer: { displayName: 'C', email } })
    for (const [productId, count] of Object.entries(stock))
      await ada.products.createProduct({
        productId,
        product: { displayName: productId, priceCents: 100n, stock: count },
      })
    return {
      ...ada,
      as,
      tenant,
      mails: () => served.mails.filter(({ to }) => to === email),
      place: (lines: Readonly<Record<string, number>>) =>
        ada.orders.placeOrder({
          customerId: 'c',
          lines: Object.entries(lines).map(([productId, quantity]) => ({ productId, quantity })),
        }),
      stock: async () => {
        const { products } = await ada.products.listProducts({})
        return Object.fromEntries(products.map(({ id, stock }) => [id, stock]))
      },
      /** How many orders there are, and lines of them. */
      written: async () => {
        const { orders, totalSize } = await ada.orders.listOrders({ pageSize: 1000 })
        const lines = await Promise.all(orders.map(({ id }) => ada.lines.listOrderLines({ orderId: id })))
        expect(totalSize).to.equal(orders.length)
        return [orders.length, lines.reduce((all, page) => all + page.lines.length, 0)]
      },
    }
  }

  it('take stock, compute the total and send mail after the commit', async () => {
    const { place, stock, lines, mails } = await shop({ bolt: 10, anvil: 3 })
    const order = await place({ bolt: 4, anvil: 1 })
    expect(order).to.include({ totalCents: 500n, state: Order_State.PLACED, placedBy: 'ada', approvedBy: '' })
    expect(await stock()).to.deep.equal({ anvil: 2, bolt: 6 })
    const page = await lines.listOrderLines({ orderId: order.id })
    expect(
      page.lines.map(({ productId, quantity, priceCents }) => [productId, quantity, priceCents]),
    ).to.have.deep.members([
      ['bolt', 4, 100n],
      ['anvil', 1, 100n],
    ])
    expect(mails().map(({ text }) => text)).to.deep.equal([`We have your order ${order.id}.`])
  })

  it('are found by their customer and their lines, for callers who may list these', async () => {
    const { place, as, orders } = await shop({ anvil: 5, bolt: 10 })
    const [anvils, bolts] = [await place({ anvil: 1 }), await place({ bolt: 4, anvil: 1 })]
    const found = async (filter: string, orderBy = '') =>
      (await orders.listOrders({ filter, orderBy })).orders.map(({ id }) => id)
    const byBolt = 'customer.display_name = "C" AND lines.product.display_name = "bolt"'
    expect(await found(byBolt)).to.deep.equal([bolts.id])
    expect(await found('NOT lines.quantity > 3', 'customer.email, create_time')).to.deep.equal([anvils.id])
    expect(await found('customer.email = "nobody@example.com" OR lines.price_cents > 100')).to.deep.equal([])
    const stranger = as('eve', ['strangers']).orders.listOrders({ filter: byBolt })
    await fails(stranger, Status.PERMISSION_DENIED, '')
  })

  it('leave nothing when one line cannot be had', async () => {
    const { place, stock, written, mails, orders } = await shop({ bolt: 10, anvil: 3 })
    await fails(place({ anvil: 1, bolt: 11 }), Status.FAILED_PRECONDITION, 'product bolt: only 10 left')
    await fails(place({ anvil: 1, cog: 1 }), Status.INVALID_ARGUMENT, 'lines[1].product_id: does not exist')
    const unknown = { customerId: 'nobody', lines: [{ productId: 'bolt', quantity: 1 }] }
    await fails(orders.placeOrder(unknown), Status.INVALID_ARGUMENT, 'customer_id: there is no such customer')
    expect([await stock(), await written(), mails()]).to.deep.equal([{ anvil: 3, bolt: 10 }, [0, 0], []])
  })

  it('leave nothing when the transaction around them rolls back', async () => {
    const { tenant, stock, written, mails } = await shop({ bolt: 10 })
    const sent: unknown[] = []
    const orders = new OrderRepository(served.dataSource, (mail) => void sent.push(mail))
    const later = new TypeError('something later')
    const outcome = await RequestContext.as({ tenant, subject: 'job' }, () =>
      orders
        .transaction(async () => {
          await orders.place({ customerId: 'c', note: '', lines: [{ productId: 'bolt', quantity: 1 }] })
          throw later
        })
        .catch((error: unknown) => error),
    )
    expect(outcome).to.equal(later)
    expect([await stock(), await written(), mails(), sent]).to.deep.equal([{ bolt: 10 }, [0, 0], [], []])
  })

  it('are approved by another person above the limit, and cannot be changed afterwards', async () => {
    const { place, as, orders } = await shop({ anvil: 3000 })
    const small = await place({ anvil: 1000 })
    expect(small.state).to.equal(Order_State.PLACED)
    await fails(as('grace').orders.approveOrder({ id: small.id }), Status.FAILED_PRECONDITION, 'is PLACED')
    const large = await place({ anvil: 1001 })
    expect(large.state).to.equal(Order_State.AWAITING_APPROVAL)
    await fails(orders.approveOrder({ id: large.id }), Status.PERMISSION_DENIED, 'by another person')
    const note = (text: string) =>
      orders.updateOrder({ order: { id: large.id, note: text }, updateMask: ['note'] })
    expect((await note('by air')).note).to.equal('by air')
    expect(await as('grace').orders.approveOrder({ id: large.id })).to.include({
      state: Order_State.APPROVED,
      approvedBy: 'grace',
    })
    const done = 'is APPROVED, and cannot be changed any more'
    await fails(note('by sea'), Status.FAILED_PRECONDITION, done)
    await fails(orders.cancelOrder({ id: large.id }), Status.FAILED_PRECONDITION, done)
    await fails(as('grace').orders.approveOrder({ id: large.id }), Status.FAILED_PRECONDITION, 'awaits no')
    expect(await orders.getOrder({ id: large.id })).to.include({ note: 'by air', totalCents: 100_100n })
  })

  it('are approved or cancelled once, whoever comes first', async () => {
    const { place, as, orders, stock } = await shop({ anvil: 1001 })
    const { id } = await place({ anvil: 1001 })
    const outcomes = await Promise.all(
      ['grace', 'alan', 'edsger', 'barbara'].flatMap((subject) => [
        settled(as(subject).orders.approveOrder({ id })),
        settled(orders.cancelOrder({ id })),
      ]),
    )
    expect(outcomes.filter((outcome) => outcome === 'OK')).to.have.length(1)
    expect(new Set(outcomes)).to.deep.equal(new Set(['OK', 'FAILED_PRECONDITION']))
    const { state } = await orders.getOrder({ id })
    expect(await stock()).to.deep.equal({ anvil: state === Order_State.CANCELLED ? 1001 : 0 })
  })

  it('are changed before they are approved or not at all', async () => {
    const { place, as, orders } = await shop({ anvil: 1001 })
    const { id } = await place({ anvil: 1001 })
    const change = (note: string) =>
      settled(orders.updateOrder({ order: { id, note }, updateMask: ['note'] }))
    const [approved, ...changes] = await Promise.all([
      as('grace').orders.approveOrder({ id }),
      ...Array.from({ length: 16 }, (_, i) => change(`note ${i}`)),
    ])
    expect(changes.filter((code) => code !== 'OK' && code !== 'FAILED_PRECONDITION')).to.deep.equal([])
    expect(await change('late')).to.equal('FAILED_PRECONDITION')
    expect((await orders.getOrder({ id })).etag).to.equal(approved.etag)
  })

  it('are read by all of the staff, and changed by who placed them and by managers', async () => {
    const { place, as, stock } = await shop({ anvil: 5 })
    const [first, second] = [await place({ anvil: 1 }), await place({ anvil: 1 })]
    const alan = as('alan', ['staff']).orders
    const update = (orders: typeof alan, id: string) =>
      orders.updateOrder({ order: { id, note: 'by air' }, updateMask: ['note'] })
    expect((await alan.listOrders({})).orders).to.have.length(2)
    await fails(update(alan, first.id), Status.PERMISSION_DENIED, '')
    await fails(alan.cancelOrder({ id: first.id }), Status.PERMISSION_DENIED, '')
    await fails(alan.cancelOrder({ id: 'none' }), Status.NOT_FOUND, '')
    expect(await stock()).to.deep.equal({ anvil: 3 })
    const ada = as('ada', ['staff']).orders
    await update(ada, first.id)
    await ada.cancelOrder({ id: first.id })
    await as('grace', ['staff', 'managers']).orders.cancelOrder({ id: second.id })
    expect(await stock()).to.deep.equal({ anvil: 5 })
  })

  it('are placed once by a client that repeats its call', async () => {
    const { tenant, stock, mails } = await shop({ anvil: 5 })
    const ada = { tenant, subject: 'ada', groups: ['staff'] }
    const order = { customerId: 'c', lines: [{ productId: 'anvil', quantity: 2 }] }
    const place = async () => {
      const headers = { 'idempotency-key': 'order-1' }
      const response = await served.fetch(ada, '/v1/orders:place', post(headers, order))
      return ((await response.json()) as { id: string }).id
    }
    const ids = [await place(), await place()]
    expect(ids[0]).to.be.a('string').and.to.equal(ids[1])
    expect([await stock(), mails().length]).to.deep.equal([{ anvil: 3 }, 1])
  })

  it('lose nothing when 64 are placed at once', async () => {
    const { place, stock, written, mails } = await shop({ anvil: 64, bolt: 100, cog: 1000 })
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        settled(place(i % 2 === 0 ? { cog: 3, bolt: 2, anvil: 1 } : { anvil: 1, bolt: 2, cog: 3 })),
      ),
    )
    // 100 bolts are 50 orders; the other 14 give back their anvil.
    expect(tally(outcomes)).to.deep.equal({ OK: 50, FAILED_PRECONDITION: 14 })
    expect(await stock()).to.deep.equal({ anvil: 14, bolt: 0, cog: 850 })
    expect(await written()).to.deep.equal([50, 150])
    expect(mails()).to.have.length(50)
  })

  it('lose nothing while others are cancelled and products restocked', async () => {
    const { place, orders, products, stock } = await shop({ anvil: 1000, bolt: 1000 })
    const first = await Promise.all(Array.from({ length: 16 }, () => place({ bolt: 2, anvil: 1 })))
    const outcomes = await Promise.all(
      first.flatMap(({ id }, i) => [
        settled(orders.cancelOrder({ id })),
        settled(place(i % 2 === 0 ? { bolt: 3, anvil: 5 } : { anvil: 5, bolt: 3 })),
        settled(products.restockProduct({ id: i % 2 === 0 ? 'anvil' : 'bolt', quantity: 10 })),
        settled(
          products.updateProduct({ product: { id: 'bolt', priceCents: 1n }, updateMask: ['price_cents'] }),
        ),
      ]),
    )
    expect(tally(outcomes)).to.deep.equal({ OK: 64 })
    expect(await stock()).to.deep.equal({ anvil: 1000 - 16 * 5 + 80, bolt: 1000 - 16 * 3 + 80 })
  })

  it('keep their customer, even while one is placed', async () => {
    const { place, customers, stock, written } = await shop({ anvil: 5 })
    const [placed, deleted] = await Promise.all([
      settled(place({ anvil: 1 })),
      settled(customers.deleteCustomer({ id: 'c' })),
    ])
    const came = placed === 'OK' ? ['OK', 'FAILED_PRECONDITION'] : ['INVALID_ARGUMENT', 'OK']
    expect([placed, deleted]).to.deep.equal(came)
    const count = placed === 'OK' ? 1 : 0
    expect([await stock(), await written()]).to.deep.equal([{ anvil: 5 - count }, [count, count]])
  })

  it('keep a customer who has some, and tell how many', async () => {
    const { place, customers, tenant } = await shop({ anvil: 5 })
    for (const count of [1, 1]) await place({ anvil: count })
    await fails(customers.deleteCustomer({ id: 'c' }), Status.FAILED_PRECONDITION, '')
    const ada = { tenant, subject: 'ada', groups: ['staff'] }
    const refused = await served.fetch(ada, '/v1/customers/c', { method: 'DELETE' })
    expect(refused.status).to.equal(400)
    expect(await refused.text()).to.include('2 resources of the type order refer to it: delete them first')
    expect((await customers.listCustomers({})).customers).to.have.length(1)
  })

  it('are deleted with their lines until they are approved, and their customer after them', async () => {
    const { place, as, orders, customers, lines, written, stock } = await shop({ anvil: 5, bolt: 2002 })
    const { id } = await place({ anvil: 1, bolt: 2 })
    const kept = await place({ anvil: 1 })
    await fails(orders.deleteOrder({ id, etag: 'stale' }), Status.FAILED_PRECONDITION, '')
    expect([await written(), await stock()]).to.deep.equal([[2, 3], { anvil: 3, bolt: 2000 }])
    await fails(as('alan', ['staff']).orders.deleteOrder({ id }), Status.PERMISSION_DENIED, '')
    await orders.deleteOrder({ id })
    expect(await written()).to.deep.equal([1, 1])
    expect((await lines.listOrderLines({ orderId: id })).lines).to.deep.equal([])
    expect(await stock()).to.deep.equal({ anvil: 4, bolt: 2002 })
    await orders.cancelOrder({ id: kept.id })
    await orders.deleteOrder({ id: kept.id })
    expect(await stock()).to.deep.equal({ anvil: 5, bolt: 2002 })
    const large = await place({ bolt: 1001 })
    await as('grace').orders.approveOrder({ id: large.id })
    await fails(orders.deleteOrder({ id: large.id }), Status.FAILED_PRECONDITION, 'is APPROVED, and stays')
    await served.dataSource.query(`DELETE FROM order_lines WHERE order_id = '${large.id}'`)
    await served.dataSource.query(`DELETE FROM orders WHERE id = '${large.id}'`)
    await customers.deleteCustomer({ id: 'c' })
    expect((await customers.listCustomers({})).customers).to.deep.equal([])
  })

  it('show their customer, and lines their product, where a read mask asks', async () => {
    const { place, orders, lines, tenant, as } = await shop({ anvil: 5, bolt: 5 })
    const { id } = await place({ anvil: 1, bolt: 2 })
    const readMask = { paths: ['quantity', 'product'] }
    const { lines: shown } = await lines.listOrderLines({ orderId: id, readMask })
    expect(
      shown.map(({ quantity, product, productId }) => [product?.id, product?.stock, quantity, productId]),
    ).to.have.deep.members([
      ['anvil', 4, 1, ''],
      ['bolt', 3, 2, ''],
    ])
    const plain = await lines.listOrderLines({ orderId: id })
    expect(plain.lines.map(({ product }) => product)).to.deep.equal([undefined, undefined])
    const order = await orders.getOrder({ id, readMask: { paths: ['customer.email'] } })
    expect(order.customer?.email).to.equal(`${tenant}@example.com`)
    const warehouse = as('walt', ['warehouse']).lines
    await fails(warehouse.listOrderLines({ orderId: id, readMask }), Status.PERMISSION_DENIED, '')
  })

  it('have a product once, whoever writes the line', async () => {
    const { place, tenant } = await shop({ anvil: 5 })
    const { id: orderId } = await place({ anvil: 1 })
    const line = { orderId, productId: 'anvil', quantity: 1, priceCents: 1n }
    const lines = new (repositoryOf(OrderLine))(served.dataSource)
    const conflict = await RequestContext.as({ tenant, subject: 'job' }, () =>
      lines.create(line).catch((error: unknown) => error),
    )
    expect(conflict).to.be.instanceOf(ErrConflict)
    expect((conflict as ErrConflict).fields).to.deep.equal(['order_id', 'product_id'])
  })

  it('know no other spelling of a customer', async () => {
    const { customers, tenant } = await shop({})
    const email = `${tenant.toUpperCase()}@Example.com`
    const again = customers.createCustomer({ customer: { displayName: 'Again', email } })
    await fails(again, Status.ALREADY_EXISTS, '')
    const other = await customers.createCustomer({ customer: { displayName: 'O', email: 'O@example.com' } })
    expect(other.email).to.equal('o@example.com')
    const update = { customer: { id: other.id, email }, updateMask: ['email'] }
    await fails(customers.updateCustomer(update), Status.ALREADY_EXISTS, '')
  })

  it('are out of reach of other tenants', async () => {
    const ours = await shop({ anvil: 5 })
    const theirs = await shop({})
    const { id } = await ours.place({ anvil: 1 })
    const { orders, lines, products } = theirs
    await fails(orders.getOrder({ id }), Status.NOT_FOUND, `Order "${id}" not found`)
    await fails(orders.approveOrder({ id }), Status.NOT_FOUND, 'not found')
    await fails(orders.cancelOrder({ id }), Status.NOT_FOUND, 'not found')
    const update = orders.updateOrder({ order: { id, note: 'x' }, updateMask: ['note'] })
    await fails(update, Status.NOT_FOUND, `Order "${id}" not found`)
    expect((await lines.listOrderLines({ orderId: id })).lines).to.deep.equal([])
    await fails(products.restockProduct({ id: 'anvil', quantity: 1 }), Status.NOT_FOUND, 'not found')
    await fails(theirs.place({ anvil: 1 }), Status.INVALID_ARGUMENT, 'lines[0].product_id: does not exist')
    expect([await ours.stock(), (await ours.orders.getOrder({ id })).note]).to.deep.equal([{ anvil: 4 }, ''])
  })
})

const settled = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'OK',
    (error: unknown) => (error instanceof ClientError ? (Status[error.code] ?? '') : String(error)),
  )

const tally = (outcomes: readonly string[]): Readonly<Record<string, number>> =>
  outcomes.reduce<Record<string, number>>((all, one) => ({ ...all, [one]: (all[one] ?? 0) + 1 }), {})

async function fails(call: Promise<unknown>, code: Status, text: string): Promise<void> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).to.be.instanceOf(ClientError)
  const { code: got, details } = error as ClientError
  expect(`${Status[got]}: ${details}`).to.include(`${Status[code]}: `).and.include(text)
}
