import { setTimeout as pause } from 'node:timers/promises'
import type { DataSource } from 'typeorm'
import { consumer, type EventWorker, type NatsOptions } from '../../lib/events/index.js'
import { ordersDataSource } from './data-source.js'

/** What the event of an order that was placed says. */
export interface Placed {
  readonly customerId: string
  readonly lines: readonly { readonly productId: string; readonly quantity: number }[]
}

/** What the warehouse is told. */
export type Pack = (slip: string) => void

/**
 * The warehouse hears of each order that was placed, whatever becomes of the process that placed it. Without `nats` it follows the
 * outbox of the orders itself.
 */
export const warehouse = (dataSource: DataSource, pack: Pack, nats?: NatsOptions): EventWorker =>
  consumer<Placed>(
    {
      ...{ name: 'warehouse', subject: { resource: 'order', verb: 'placed' }, dataSource },
      ...(nats === undefined ? {} : { nats }),
    },
    ({ key, tenant, data: { customerId, lines } }) => {
      const items = lines.map(({ quantity, productId }) => `${quantity} × ${productId}`).join(', ')
      pack(`pack ${items} for ${customerId} of ${tenant}: order ${key}`)
      return Promise.resolve()
    },
  )

if (import.meta.filename === process.argv[1]) {
  const dataSource = ordersDataSource(process.env['ORDERS_DATABASE'] ?? 'orders.sqlite')
  await dataSource.initialize()
  const servers = process.env['NATS_URL']
  const worker = warehouse(dataSource, console.log, servers === undefined ? undefined : { servers })
  worker.start()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      void Promise.race([worker.drain().then(() => dataSource.destroy()), pause(5_000)]).then(() =>
        process.exit(),
      )
    })
}
