import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Kysely, Transaction } from 'kysely'
import { authorized, mustReach } from './caller.mjs'
import { mustMatch, toCustomer } from './customers.mjs'
import type { Database, Order, OrderLine, State } from './database.mjs'
import { PAGE, type PageQuery, pageOf } from './paging.mjs'
import { denied, invalid, notFound, refused } from './problems.mjs'
import { putBack, QUANTITY, take, toProduct } from './products.mjs'

/** Orders above this amount need approval. */
const APPROVAL_LIMIT_CENTS = 100_000n

export type SendMail = (mail: { readonly to: string; readonly text: string }) => void | Promise<void>

type Line = { readonly productId: string; readonly quantity: number }
type Place = { readonly customerId: string; readonly lines: readonly Line[]; readonly note?: string }
type Keyed = { readonly id: string }
type Masked = { readonly read_mask?: string }

const KEY = { type: 'string', minLength: 1, maxLength: 255 }
const NOTE = { type: 'string', maxLength: 200 }
const LINE = {
  type: 'object',
  properties: { productId: KEY, quantity: QUANTITY },
  required: ['productId', 'quantity'],
}
const PLACE = {
  type: 'object',
  properties: {
    customerId: KEY,
    lines: { type: 'array', items: LINE, minItems: 1, maxItems: 100 },
    note: NOTE,
  },
  required: ['customerId', 'lines'],
}
const PATCH = { type: 'object', properties: { note: NOTE } }
const STATES: readonly State[] = ['PLACED', 'AWAITING_APPROVAL', 'APPROVED', 'CANCELLED']
const FILTER = { ...PAGE, state: { enum: STATES }, customer_id: KEY }

const toOrder = (row: Order) => ({
  id: row.id,
  accountId: row.account_id,
  customerId: row.customer_id,
  note: row.note,
  state: row.state,
  totalCents: String(row.total_cents),
  placedBy: row.placed_by,
  approvedBy: row.approved_by,
  createTime: row.create_time,
  etag: row.etag,
})

const toLine = (row: OrderLine) => ({
  id: row.id,
  accountId: row.account_id,
  orderId: row.order_id,
  productId: row.product_id,
  quantity: row.quantity,
  priceCents: String(row.price_cents),
})

export function orderRoutes(app: FastifyInstance, db: Kysely<Database>, send: SendMail): void {
  app.get<{ Params: Keyed; Querystring: Masked }>('/v1/orders/:id', async (request) => {
    const { tenant } = authorized(request, 'get', 'order')
    const row = await orderOf(db, tenant, request.params.id)
    if (row === undefined) throw notFound()
    if (!wants(request.query, 'customer')) return toOrder(row)
    authorized(request, 'get', 'customer')
    const customer = await db
      .selectFrom('customers')
      .selectAll()
      .where('account_id', '=', tenant)
      .where('id', '=', row.customer_id)
      .executeTakeFirst()
    return { ...toOrder(row), ...(customer && { customer: toCustomer(customer) }) }
  })

  app.get<{ Querystring: PageQuery & { state?: State; customer_id?: string } }>(
    '/v1/orders',
    { schema: { querystring: { type: 'object', properties: FILTER } } },
    async (request) => {
      const { tenant } = authorized(request, 'list', 'order')
      const { state, customer_id } = request.query
      let query = db.selectFrom('orders').where('account_id', '=', tenant)
      if (state !== undefined) query = query.where('state', '=', state)
      if (customer_id !== undefined) query = query.where('customer_id', '=', customer_id)
      const { rows, token } = await pageOf(query.selectAll(), request.query, [tenant, 'orders'])
      const { count } = await query
        .select(({ fn }) => fn.countAll<bigint>().as('count'))
        .executeTakeFirstOrThrow()
      return { orders: rows.map(toOrder), nextPageToken: token, totalSize: Number(count) }
    },
  )

  app.get<{ Params: Keyed; Querystring: PageQuery & Masked }>(
    '/v1/orders/:id/lines',
    { schema: { querystring: { type: 'object', properties: { ...PAGE, read_mask: { type: 'string' } } } } },
    async (request) => {
      const { tenant } = authorized(request, 'list', 'order_line')
      const { id } = request.params
      const query = db
        .selectFrom('order_lines')
        .selectAll()
        .where('account_id', '=', tenant)
        .where('order_id', '=', id)
      const { rows, token } = await pageOf(query, request.query, [tenant, 'lines', id])
      if (rows.length === 0 || !wants(request.query, 'product'))
        return { lines: rows.map(toLine), nextPageToken: token }
      authorized(request, 'get', 'product')
      const products = await db
        .selectFrom('products')
        .selectAll()
        .where('account_id', '=', tenant)
        .where(
          'id',
          'in',
          rows.map(({ product_id }) => product_id),
        )
        .execute()
      const byId = new Map(products.map((product) => [product.id, toProduct(product)]))
      const lines = rows.map((row) => ({ ...toLine(row), product: byId.get(row.product_id) }))
      return { lines, nextPageToken: token }
    },
  )

  app.post<{ Body: Place }>('/v1/orders::place', { schema: { body: PLACE } }, async (request) => {
    const { tenant, subject } = authorized(request, 'place', 'order')
    const { customerId, lines, note = '' } = request.body
    if (new Set(lines.map(({ productId }) => productId)).size < lines.length)
      throw invalid('lines', 'a product has one line')
    const { order, email } = await db.transaction().execute(async (trx) => {
      // Takes stock first and in a fixed order, so that concurrent orders do not deadlock.
      const priced: (Line & { readonly priceCents: bigint })[] = []
      for (const { productId, quantity, field } of inKeyOrder(lines)) {
        const product = await take(trx, tenant, productId, quantity)
        if (product === undefined) throw invalid(field, 'does not exist')
        priced.push({ productId, quantity, priceCents: product.price_cents })
      }
      const customer = await trx
        .selectFrom('customers')
        .select('email')
        .where('account_id', '=', tenant)
        .where('id', '=', customerId)
        .forShare()
        .executeTakeFirst()
      if (customer === undefined) throw invalid('customer_id', 'there is no such customer')
      const total = priced.reduce((sum, line) => sum + BigInt(line.quantity) * line.priceCents, 0n)
      const placed = await trx
        .insertInto('orders')
        .values({
          account_id: tenant,
          id: randomUUID(),
          customer_id: customerId,
          note,
          state: total > APPROVAL_LIMIT_CENTS ? 'AWAITING_APPROVAL' : 'PLACED',
          total_cents: total,
          placed_by: subject,
          approved_by: '',
          create_time: new Date(),
          etag: randomUUID(),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      const rows = priced.map(({ productId, quantity, priceCents }) => ({
        account_id: tenant,
        id: randomUUID(),
        order_id: placed.id,
        product_id: productId,
        quantity,
        price_cents: priceCents,
      }))
      await trx.insertInto('order_lines').values(rows).execute()
      return { order: placed, email: customer.email }
    })
    await Promise.resolve(send({ to: email, text: `We have your order ${order.id}.` })).catch(console.error)
    return toOrder(order)
  })

  app.patch<{ Params: Keyed; Body: { readonly note?: string } }>(
    '/v1/orders/:id',
    { schema: { body: PATCH } },
    (request) => {
      const caller = authorized(request, 'update', 'order')
      return db.transaction().execute(async (trx) => {
        const row = await lockedOrder(trx, caller.tenant, request.params.id)
        mustReach(caller, row)
        mustMatch(request.headers['if-match'], row.etag)
        mustBeOpen(row)
        return toOrder(
          await writeOrder(trx, row, request.body.note === undefined ? {} : { note: request.body.note }),
        )
      })
    },
  )

  app.delete<{ Params: Keyed }>('/v1/orders/:id', (request) => {
    const caller = authorized(request, 'delete', 'order')
    authorized(request, 'delete', 'order_line')
    return db.transaction().execute(async (trx) => {
      const row = await lockedOrder(trx, caller.tenant, request.params.id)
      mustReach(caller, row)
      mustMatch(request.headers['if-match'], row.etag)
      if (row.state === 'APPROVED') throw refused(`order ${row.id}: is APPROVED, and stays`)
      if (row.state !== 'CANCELLED') await putAllBack(trx, row)
      await trx
        .deleteFrom('order_lines')
        .where('account_id', '=', row.account_id)
        .where('order_id', '=', row.id)
        .execute()
      await trx
        .deleteFrom('orders')
        .where('account_id', '=', row.account_id)
        .where('id', '=', row.id)
        .execute()
      return {}
    })
  })

  app.post<{ Params: { action: string } }>('/v1/orders/:action', (request) => {
    const [, id = '', action] = /^(.+):(approve|cancel)$/.exec(request.params.action) ?? []
    if (action === 'approve') return approve(request, id)
    if (action === 'cancel') return cancel(request, id)
    throw notFound()
  })

  /** Approves an order. The caller must not be the person who placed it. */
  function approve(request: FastifyRequest, id: string) {
    const { tenant, subject } = authorized(request, 'approve', 'order')
    return db.transaction().execute(async (trx) => {
      const row = await lockedOrder(trx, tenant, id)
      if (row.state !== 'AWAITING_APPROVAL')
        throw refused(`order ${id}: is ${row.state}, and awaits no approval`)
      if (row.placed_by === subject)
        throw denied('an order is approved by another person than the one who placed it')
      return toOrder(await writeOrder(trx, row, { state: 'APPROVED', approved_by: subject }))
    })
  }

  function cancel(request: FastifyRequest, id: string) {
    const caller = authorized(request, 'cancel', 'order')
    return db.transaction().execute(async (trx) => {
      const row = await lockedOrder(trx, caller.tenant, id)
      mustReach(caller, row)
      mustBeOpen(row)
      const cancelled = await writeOrder(trx, row, { state: 'CANCELLED' })
      await putAllBack(trx, row)
      return toOrder(cancelled)
    })
  }
}

const wants = ({ read_mask = '' }: Masked, field: string) =>
  read_mask.split(',').some((path) => path === field || path.startsWith(`${field}.`))

const orderOf = (db: Kysely<Database>, tenant: string, id: string) =>
  db.selectFrom('orders').selectAll().where('account_id', '=', tenant).where('id', '=', id).executeTakeFirst()

async function lockedOrder(trx: Transaction<Database>, tenant: string, id: string): Promise<Order> {
  const row = await trx
    .selectFrom('orders')
    .selectAll()
    .where('account_id', '=', tenant)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

const writeOrder = (
  trx: Transaction<Database>,
  { account_id, id }: Order,
  patch: Partial<Order>,
): Promise<Order> =>
  trx
    .updateTable('orders')
    .set({ ...patch, etag: randomUUID() })
    .where('account_id', '=', account_id)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()

async function putAllBack(trx: Transaction<Database>, { account_id, id }: Order): Promise<void> {
  const lines = await trx
    .selectFrom('order_lines')
    .select(['product_id', 'quantity'])
    .where('account_id', '=', account_id)
    .where('order_id', '=', id)
    .orderBy('product_id')
    .execute()
  for (const { product_id, quantity } of lines) await putBack(trx, account_id, product_id, quantity)
}

function mustBeOpen({ id, state }: Order): void {
  if (state === 'APPROVED' || state === 'CANCELLED')
    throw refused(`order ${id}: is ${state}, and cannot be changed any more`)
}

/** Returns the lines by product, with the request field that names it. */
const inKeyOrder = (lines: readonly Line[]) =>
  lines
    .map((line, i) => ({ ...line, field: `lines[${i}].product_id` }))
    .sort((a, b) => (a.productId < b.productId ? -1 : a.productId > b.productId ? 1 : 0))
