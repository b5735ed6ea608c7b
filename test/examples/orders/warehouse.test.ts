import { expect } from 'chai'
import { warehouse } from '../../../examples/orders/warehouse.js'
import { CustomerService, OrderService, ProductService } from '../../../examples/orders/gen/orders_pb.js'
import { natsSink, relay } from '../../../lib/events/index.js'
import { until } from '../../support/until.js'
import { describeOn } from '../../support/databases/backends.js'
import { needsNats, testStream } from '../../support/databases/on-nats.js'
import { ORDER_BACKENDS, serveOrders } from './served-orders.js'

const ADA = { tenant: 'acme', subject: 'ada', groups: ['staff'] }

describeOn('the warehouse of the orders', ORDER_BACKENDS, (backend) => {
  for (const source of ['the outbox', 'a stream'] as const)
    it(`hears of each order that was placed, by ${source}`, async function () {
      if (source === 'a stream') needsNats(`the warehouse on ${backend.name}`, this)
      const served = await serveOrders(backend.name)
      const stream = source === 'a stream' ? await testStream() : undefined
      const slips: string[] = []
      const { dataSource } = served
      const workers = [
        ...(stream === undefined ? [] : [relay({ dataSource, sink: natsSink(stream.options) })]),
        warehouse(dataSource, (slip) => slips.push(slip), stream?.options),
      ]
      try {
        for (const worker of workers) worker.start()
        await served
          .client(CustomerService, ADA)
          .createCustomer({ customerId: 'c', customer: { displayName: 'C', email: 'c@example.com' } })
        await served
          .client(ProductService, ADA)
          .createProduct({ productId: 'bolt', product: { displayName: 'bolt', priceCents: 25n, stock: 5 } })
        const order = (quantity: number) =>
          served
            .client(OrderService, ADA)
            .placeOrder({ customerId: 'c', lines: [{ productId: 'bolt', quantity }] })
        const { id } = await order(3)
        await order(9).catch(() => {})
        await until(() => slips.length > 0)
        expect(slips).to.deep.equal([`pack 3 × bolt for c of acme: order ${id}`])
      } finally {
        for (const worker of workers) await worker.drain()
        await stream?.close()
        await served.stop()
      }
    })
})
