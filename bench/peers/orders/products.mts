import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Kysely, Transaction } from 'kysely'
import { sql } from 'kysely'
import { authorized } from './caller.mjs'
import { mustMatch } from './customers.mjs'
import type { Database, Product } from './database.mjs'
import { PAGE, type PageQuery, pageOf } from './paging.mjs'
import { invalid, notFound, refused } from './problems.mjs'

type Body = { readonly displayName: string; readonly priceCents?: string; readonly stock?: number }
type Keyed = { readonly id: string }

const MOST_STOCK = 2 ** 31 - 1
const DISPLAY_NAME = { type: 'string', minLength: 1, maxLength: 255 }
const PRICE_CENTS = { type: 'string', pattern: '^(\\d{1,8}|100000000)$' }
const STOCK = { type: 'integer', minimum: 0, maximum: MOST_STOCK }
const BODY = {
  type: 'object',
  properties: { displayName: DISPLAY_NAME, priceCents: PRICE_CENTS, stock: STOCK },
  required: ['displayName'],
}
const PATCH = { type: 'object', properties: { displayName: DISPLAY_NAME, priceCents: PRICE_CENTS } }
export const QUANTITY = { type: 'integer', minimum: 1, maximum: 1_000_000 }
const RESTOCK = { type: 'object', properties: { quantity: QUANTITY }, required: ['quantity'] }

export const toProduct = (row: Product) => ({
  id: row.id,
  accountId: row.account_id,
  displayName: row.display_name,
  priceCents: String(row.price_cents),
  stock: row.stock,
  updateTime: row.update_time,
  etag: row.etag,
})

export function productRoutes(app: FastifyInstance, db: Kysely<Database>): void {
  app.get<{ Params: Keyed }>('/v1/products/:id', async (request) => {
    const { tenant } = authorized(request, 'get', 'product')
    const row = await db
      .selectFrom('products')
      .selectAll()
      .where('account_id', '=', tenant)
      .where('id', '=', request.params.id)
      .executeTakeFirst()
    if (row === undefined) throw notFound()
    return toProduct(row)
  })

  app.get<{ Querystring: PageQuery }>(
    '/v1/products',
    { schema: { querystring: { type: 'object', properties: PAGE } } },
    async (request) => {
      const { tenant } = authorized(request, 'list', 'product')
      const query = db.selectFrom('products').selectAll().where('account_id', '=', tenant)
      const { rows, token } = await pageOf(query, request.query, [tenant, 'products'])
      return { products: rows.map(toProduct), nextPageToken: token }
    },
  )

  app.post<{ Body: Body; Querystring: { product_id?: string } }>(
    '/v1/products',
    { schema: { body: BODY } },
    async (request) => {
      const { tenant } = authorized(request, 'create', 'product')
      const { displayName, priceCents = '0', stock = 0 } = request.body
      const row = await db
        .insertInto('products')
        .values({
          account_id: tenant,
          id: request.query.product_id ?? randomUUID(),
          display_name: displayName,
          price_cents: BigInt(priceCents),
          stock,
          update_time: new Date(),
          etag: randomUUID(),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      return toProduct(row)
    },
  )

  app.patch<{ Params: Keyed; Body: Partial<Body> }>(
    '/v1/products/:id',
    { schema: { body: PATCH } },
    async (request) => {
      const { tenant } = authorized(request, 'update', 'product')
      const { displayName, priceCents, stock } = request.body
      if (stock !== undefined) throw invalid('stock', 'cannot be written')
      return db.transaction().execute(async (trx) => {
        const row = await trx
          .selectFrom('products')
          .select('etag')
          .where('account_id', '=', tenant)
          .where('id', '=', request.params.id)
          .forUpdate()
          .executeTakeFirst()
        if (row === undefined) throw notFound()
        mustMatch(request.headers['if-match'], row.etag)
        const updated = await trx
          .updateTable('products')
          .set({
            ...(displayName !== undefined && { display_name: displayName }),
            ...(priceCents !== undefined && { price_cents: BigInt(priceCents) }),
            update_time: new Date(),
            etag: randomUUID(),
          })
          .where('account_id', '=', tenant)
          .where('id', '=', request.params.id)
          .returningAll()
          .executeTakeFirstOrThrow()
        return toProduct(updated)
      })
    },
  )

  app.post<{ Params: { action: string }; Body: { readonly quantity: number } }>(
    '/v1/products/:action',
    { schema: { body: RESTOCK } },
    async (request) => {
      const { tenant } = authorized(request, 'restock', 'product')
      const id = /^(.+):restock$/.exec(request.params.action)?.[1]
      const row = id && (await putBack(db, tenant, id, request.body.quantity))
      if (!row) throw notFound()
      return toProduct(row)
    },
  )
}

/** Takes items from the stock. The row stays locked until the transaction ends. */
export async function take(trx: Transaction<Database>, tenant: string, id: string, quantity: number) {
  const row = await trx
    .selectFrom('products')
    .select(['stock', 'price_cents'])
    .where('account_id', '=', tenant)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return undefined
  if (row.stock < quantity) throw refused(`product ${id}: only ${row.stock} left`)
  await trx
    .updateTable('products')
    .set({ stock: row.stock - quantity, update_time: new Date(), etag: randomUUID() })
    .where('account_id', '=', tenant)
    .where('id', '=', id)
    .execute()
  return row
}

/** Returns items to the stock. */
export async function putBack(db: Kysely<Database>, tenant: string, id: string, quantity: number) {
  const found = db.updateTable('products').where('account_id', '=', tenant).where('id', '=', id)
  const row = await found
    .set({ stock: sql`stock + ${quantity}`, update_time: new Date(), etag: randomUUID() })
    .where(sql<boolean>`stock::bigint + ${quantity} <= ${MOST_STOCK}`)
    .returningAll()
    .executeTakeFirst()
  if (row !== undefined) return row
  const full = await db
    .selectFrom('products')
    .select('id')
    .where('account_id', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst()
  if (full !== undefined) throw invalid('stock', 'is out of range')
  return undefined
}
