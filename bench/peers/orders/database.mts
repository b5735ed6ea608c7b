import { Kysely, PostgresDialect, type Selectable } from 'kysely'
import pg from 'pg'

export type State = 'PLACED' | 'AWAITING_APPROVAL' | 'APPROVED' | 'CANCELLED'

interface Customers {
  account_id: string
  id: string
  display_name: string
  email: string
  create_time: Date
  etag: string
}

interface Products {
  account_id: string
  id: string
  display_name: string
  price_cents: bigint
  stock: number
  update_time: Date
  etag: string
}

interface Orders {
  account_id: string
  id: string
  customer_id: string
  note: string
  state: State
  total_cents: bigint
  placed_by: string
  approved_by: string
  create_time: Date
  etag: string
}

interface OrderLines {
  account_id: string
  id: string
  order_id: string
  product_id: string
  quantity: number
  price_cents: bigint
}

export interface Database {
  customers: Customers
  products: Products
  orders: Orders
  order_lines: OrderLines
}

export type Customer = Selectable<Customers>
export type Product = Selectable<Products>
export type Order = Selectable<Orders>
export type OrderLine = Selectable<OrderLines>

pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)

export const openDatabase = (connectionString: string): Kysely<Database> =>
  new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString, max: 10 }) }) })
