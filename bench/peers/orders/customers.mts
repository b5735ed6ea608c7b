import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { authorized } from './caller.mjs'
import type { Customer, Database } from './database.mjs'
import { PAGE, type PageQuery, pageOf } from './paging.mjs'
import { notFound, refused, stale } from './problems.mjs'

type Body = { readonly displayName: string; readonly email: string }
type Keyed = { readonly id: string }

const FIELDS = {
  displayName: { type: 'string', minLength: 1, maxLength: 255 },
  email: { type: 'string', format: 'email', maxLength: 255 },
}
const BODY = { type: 'object', properties: FIELDS, required: ['displayName', 'email'] }
const PATCH = { type: 'object', properties: FIELDS }
const FILTER = { ...PAGE, email: { type: 'string' } }

export const toCustomer = (row: Customer) => ({
  id: row.id,
  accountId: row.account_id,
  displayName: row.display_name,
  email: row.email,
  createTime: row.create_time,
  etag: row.etag,
})

export function customerRoutes(app: FastifyInstance, db: Kysely<Database>): void {
  app.get<{ Params: Keyed }>('/v1/customers/:id', async (request) => {
    const { tenant } = authorized(request, 'get', 'customer')
    const row = await db
      .selectFrom('customers')
      .selectAll()
      .where('account_id', '=', tenant)
      .where('id', '=', request.params.id)
      .executeTakeFirst()
    if (row === undefined) throw notFound()
    return toCustomer(row)
  })

  app.get<{ Querystring: PageQuery & { email?: string } }>(
    '/v1/customers',
    { schema: { querystring: { type: 'object', properties: FILTER } } },
    async (request) => {
      const { tenant } = authorized(request, 'list', 'customer')
      let query = db.selectFrom('customers').selectAll().where('account_id', '=', tenant)
      const { email } = request.query
      if (email !== undefined) query = query.where('email', '=', email.toLowerCase())
      const { rows, token } = await pageOf(query, request.query, [tenant, 'customers'])
      return { customers: rows.map(toCustomer), nextPageToken: token }
    },
  )

  app.post<{ Body: Body; Querystring: { customer_id?: string } }>(
    '/v1/customers',
    { schema: { body: BODY } },
    async (request) => {
      const { tenant } = authorized(request, 'create', 'customer')
      const { displayName, email } = request.body
      const row = await db
        .insertInto('customers')
        .values({
          account_id: tenant,
          id: request.query.customer_id ?? randomUUID(),
          display_name: displayName,
          email: email.toLowerCase(),
          create_time: new Date(),
          etag: randomUUID(),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      return toCustomer(row)
    },
  )

  app.patch<{ Params: Keyed; Body: Partial<Body> }>(
    '/v1/customers/:id',
    { schema: { body: PATCH } },
    async (request) => {
      const { tenant } = authorized(request, 'update', 'customer')
      const { displayName, email } = request.body
      return db.transaction().execute(async (trx) => {
        const row = await trx
          .selectFrom('customers')
          .select('etag')
          .where('account_id', '=', tenant)
          .where('id', '=', request.params.id)
          .forUpdate()
          .executeTakeFirst()
        if (row === undefined) throw notFound()
        mustMatch(request.headers['if-match'], row.etag)
        const updated = await trx
          .updateTable('customers')
          .set({
            ...(displayName !== undefined && { display_name: displayName }),
            ...(email !== undefined && { email: email.toLowerCase() }),
            etag: randomUUID(),
          })
          .where('account_id', '=', tenant)
          .where('id', '=', request.params.id)
          .returningAll()
          .executeTakeFirstOrThrow()
        return toCustomer(updated)
      })
    },
  )

  app.delete<{ Params: Keyed }>('/v1/customers/:id', async (request) => {
    const { tenant } = authorized(request, 'delete', 'customer')
    const { id } = request.params
    return db.transaction().execute(async (trx) => {
      const row = await trx
        .selectFrom('customers')
        .select('etag')
        .where('account_id', '=', tenant)
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
      if (row === undefined) throw notFound()
      mustMatch(request.headers['if-match'], row.etag)
      const { count } = await trx
        .selectFrom('orders')
        .select(({ fn }) => fn.countAll<bigint>().as('count'))
        .where('account_id', '=', tenant)
        .where('customer_id', '=', id)
        .executeTakeFirstOrThrow()
      if (count > 0n) throw refused(`${count} resources of the type order refer to it: delete them first`)
      await trx.deleteFrom('customers').where('account_id', '=', tenant).where('id', '=', id).execute()
      return {}
    })
  })
}

/** Compares an etag with a header, in which it is quoted. */
export function mustMatch(header: string | undefined, etag: string): void {
  if (header !== undefined && header !== '*' && header !== `"${etag}"`) throw stale()
}
