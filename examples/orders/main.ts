import { setTimeout as pause } from 'node:timers/promises'
import type { DataSource } from 'typeorm'
import {
  devPrincipal,
  jsonLogger,
  type Logger,
  repositoryFor,
  type Server,
  ServerBuilder,
  wrapped,
} from '../../lib/index.js'
import { natsSink, relay } from '../../lib/events/index.js'
import { DefaultGRPCAddr, SqlIdempotencyStore, supportsRowAccess } from '../../lib/server/index.js'
import { orderAuthorizer } from './authorizer.js'
import { Customer } from './customer.js'
import { ordersDataSource } from './data-source.js'
import { CustomerService, OrderLineService, OrderService, ProductService } from './gen/orders_pb.js'
import type { SendMail } from './mail.js'
import { OrderLine } from './order-line.js'
import { mustBeOpen, OrderRepository } from './order-repository.js'
import { orderSchema } from './order-schema.js'
import { ProductRepository } from './product-repository.js'

export interface OrderServerOptions {
  /** SQLite file, `:memory:`, a database URL, or what `ordersDataSource` makes of one, for the caller to end. */
  readonly database: string | DataSource
  readonly grpcAddr: string
  readonly httpAddr: string
  /** One record per call on stderr when left out. */
  readonly logger?: Logger
  /** Prints what it would send when left out. */
  readonly mail?: SendMail
  /** Where events are delivered. Without it they stay in the outbox, for consumers that follow it. */
  readonly nats?: string | undefined
}

/** A server for customers, products and orders: gRPC, and HTTP/JSON in front of it. */
export async function orderServer(options: OrderServerOptions): Promise<Server> {
  const { database, grpcAddr, httpAddr, logger = jsonLogger(), mail = print, nats } = options
  const dataSource = typeof database === 'string' ? ordersDataSource(database) : database
  await dataSource.initialize()
  const products = new ProductRepository(dataSource)
  const orders = new OrderRepository(dataSource, mail)

  return new ServerBuilder()
    .grpcAddr(grpcAddr)
    .httpAddr(httpAddr)
    .logger(logger)
    .gateway({
      updateMask: 'normalize',
      openapi: { title: 'Orders', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
    })
    .principalFunc(devPrincipal)
    .authorizer(orderAuthorizer)
    .allowDevelopment()
    .idempotencyStore(new SqlIdempotencyStore(dataSource))
    .workers(...(nats === undefined ? [] : [relay({ dataSource, sink: natsSink({ servers: nats }) })]))
    .readinessCheck('database', async () => {
      await dataSource.query('SELECT 1')
    })
    .readinessCheck('schema', orderSchema(dataSource))
    .register(CustomerService, repositoryFor(Customer, dataSource))
    .register(ProductService, products, {
      restockProduct: async ({ id, quantity }) => products.model.toMessage(await products.put(id, quantity)),
    })
    .register(OrderService, orders, {
      placeOrder: async (request) => orders.model.toMessage(await orders.place(request)),
      approveOrder: async ({ id }) => orders.model.toMessage(await orders.approve(id)),
      cancelOrder: supportsRowAccess(orders, async ({ id }, _call, restricted) =>
        orders.model.toMessage(await orders.cancel(id, restricted)),
      ),
      updateOrder: wrapped({ transaction: true }, async (request, _call, standard) => {
        const order = await standard(request)
        mustBeOpen(order)
        return order
      }),
    })
    .register(OrderLineService, repositoryFor(OrderLine, dataSource))
    .build()
}

const print: SendMail = ({ to, text }) => console.log(`mail to ${to}: ${text}`)

if (import.meta.filename === process.argv[1]) {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const dataSource = ordersDataSource(process.env['ORDERS_DATABASE'] ?? 'orders.sqlite')
  const server = await orderServer({
    database: dataSource,
    grpcAddr: process.env['GRPC_ADDR'] ?? DefaultGRPCAddr,
    httpAddr: process.env['HTTP_ADDR'] ?? ':8080',
    nats: process.env['NATS_URL'],
  })
  await server.serve(stop.signal)
  // A handler that goes on was answered for, and keeps neither the process nor the connection it waits for.
  await Promise.race([dataSource.destroy(), pause(1_000)])
  process.exit()
}
