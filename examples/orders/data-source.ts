import { DataSource } from 'typeorm'
import { SqliteDataSource } from '../../lib/index.js'
import { Customer } from './customer.js'
import { Order } from './order.js'
import { OrderLine } from './order-line.js'
import { Product } from './product.js'

/** Where orders live: a SQLite file or `:memory:`, or the URL of a PostgreSQL or MySQL database. */
export function ordersDataSource(database: string): DataSource {
  const entities = [Customer, Product, Order, OrderLine]
  if (/^postgres(ql)?:/.test(database))
    return new DataSource({ type: 'postgres', url: database, connectTimeoutMS: 10_000, entities })
  if (/^mysql:/.test(database))
    return new DataSource({ type: 'mysql', url: database, timezone: 'Z', connectTimeout: 10_000, entities })
  return new SqliteDataSource({ database, entities })
}
