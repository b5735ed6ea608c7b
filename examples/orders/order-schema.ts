import type { DataSource } from 'typeorm'
import { schemaIsCurrent } from '../../lib/migrations/index.js'

const FILES = new URL('../../../examples/orders/migrations/', import.meta.url)

/**
 * Resolves once the tables of orders are there. SQLite makes them by itself; PostgreSQL and MySQL get them from
 * `ashlar migrate up --files examples/orders/migrations`.
 */
export function orderSchema({ options }: Pick<DataSource, 'options'>): () => Promise<void> {
  if ((options.type !== 'postgres' && options.type !== 'mysql') || options.url === undefined)
    return () => Promise.resolve()
  return schemaIsCurrent({ url: options.url, files: FILES })
}
