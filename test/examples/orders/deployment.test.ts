import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Customer } from '../../../examples/orders/customer.js'
import { orderServer } from '../../../examples/orders/main.js'
import { Order } from '../../../examples/orders/order.js'
import { OrderLine } from '../../../examples/orders/order-line.js'
import { Product } from '../../../examples/orders/product.js'
import { orderTour } from '../../../examples/orders/tour.js'
import { tableMigrations } from '../../../lib/persistence/index.js'
import { securityCheck } from '../../../lib/testing/index.js'
import { recordingLogger } from '../../support/servers/server.js'
import { QuietScreen } from '../quiet-screen.js'
import { MIGRATIONS, serveOrders } from './served-orders.js'

describe('the order service', function () {
  it('is toured by fetch', async () => {
    const served = await serveOrders('sqlite')
    const screen = new QuietScreen(false)
    try {
      await orderTour('', served.url, screen)
    } finally {
      await served.stop()
    }
    expect(screen.shown).to.have.length(8)
  })

  it('has the migrations of its tables', () => {
    const tables = tableMigrations({ Customer, Product, Order, OrderLine })
    for (const dialect of ['postgres', 'mysql'] as const) {
      const files = readdirSync(join(MIGRATIONS, dialect))
      for (const { table, sqlFor } of tables)
        for (const way of ['up', 'down'] as const) {
          const file = files.find((name) => name.slice(5) === `${table}.${way}.sql`) ?? ''
          expect(readFileSync(join(MIGRATIONS, dialect, file), 'utf8')).to.equal(sqlFor(dialect)[way])
        }
      expect(files).to.have.length(2 * tables.length)
    }
  })

  it('has nothing that the security check finds', async () => {
    const server = await orderServer({
      ...{ database: ':memory:', grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' },
      ...{ logger: recordingLogger(), mail: () => {} },
    })
    const report = await securityCheck(server, {
      as: { subject: 'ada', groups: ['staff', 'managers', 'warehouse'] },
      samples: { 'orders.v1.Customer': (n) => ({ email: `c${n}@example.com` }) },
      requests: {
        '/orders.v1.OrderService/PlaceOrder': (key, n) => ({
          customerId: key('orders.v1.Customer'),
          lines: [{ productId: key('orders.v1.Product'), quantity: 1 }],
          note: `order ${n}`,
        }),
        '/orders.v1.ProductService/RestockProduct': (key) => ({ id: key('orders.v1.Product'), quantity: 1 }),
      },
    })
    expect(report).to.deep.include({
      ...{ passed: true, findings: [] },
      notChecked: [
        {
          method: '/orders.v1.OrderService/PlaceOrder',
          reason: 'not tried: other values of lines.quantity, note',
        },
        {
          method: '/orders.v1.ProductService/RestockProduct',
          reason: 'not tried: other values of quantity',
        },
      ],
    })
    expect(report.methods).to.equal(21)
  })
})
