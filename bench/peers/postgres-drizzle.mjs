import { randomUUID } from 'node:crypto'
import { and, asc, eq, gte, isNull, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { doublePrecision, integer, jsonb, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { benchUrl, POOL } from '../../dist/bench/sides/postgres-address.js'
import { fill, fillOwn, ownTenant, randomRow, tenantOf } from '../../dist/bench/sides/postgres-data.js'

const time = (name) => timestamp(name, { withTimezone: true })
const widgets = pgTable('widgets', {
  id: text('id').primaryKey(),
  displayName: text('display_name').notNull(),
  description: text('description').notNull(),
  size: integer('size').notNull(),
  price: doublePrecision('price').notNull(),
  state: text('state').notNull(),
  tags: jsonb('tags').notNull(),
  createTime: time('create_time').notNull(),
  updateTime: time('update_time').notNull(),
  etag: text('etag').notNull(),
  accountId: text('account_id').notNull(),
  deleteTime: time('deleted_at'),
})
const { placeholder } = sql
/** Drizzle requires an SQL expression for placeholders in `set`. */
const given = (name) => sql`${placeholder(name)}`

/** Prepared queries, as recommended by Drizzle's page on performance. */
export async function setUp() {
  await fill()
  const pool = new pg.Pool({ connectionString: benchUrl(), max: POOL })
  const db = drizzle(pool)
  const live = (...more) =>
    and(eq(widgets.accountId, placeholder('tenant')), isNull(widgets.deleteTime), ...more)
  const get = db
    .select()
    .from(widgets)
    .where(live(eq(widgets.id, placeholder('key'))))
    .prepare('get')
  const list = db
    .select()
    .from(widgets)
    .where(live(eq(widgets.state, placeholder('state')), gte(widgets.size, placeholder('size'))))
    .orderBy(asc(widgets.createTime), asc(widgets.id))
    .limit(51)
    .prepare('list')
  const names = ['id', 'displayName', 'description', 'size', 'price', 'state', 'tags']
  const stamps = ['createTime', 'updateTime', 'etag', 'accountId']
  const create = db
    .insert(widgets)
    .values(Object.fromEntries([...names, ...stamps].map((name) => [name, placeholder(name)])))
    .returning()
    .prepare('create')
  const update = db
    .update(widgets)
    .set({ displayName: given('displayName'), updateTime: given('updateTime'), etag: given('etag') })
    .where(live(eq(widgets.id, placeholder('key')), eq(widgets.etag, placeholder('before'))))
    .returning()
    .prepare('update')
  const mine = ownTenant('drizzle')
  const own = await fillOwn(mine)
  let n = 0
  return {
    operations: {
      async get() {
        const { tenant, key } = randomRow()
        const [row] = await get.execute({ tenant, key })
        if (row?.id !== key) throw new TypeError(key)
      },
      async list() {
        const rows = await list.execute({ tenant: tenantOf(n++), state: 'ACTIVE', size: 100 })
        if (rows.length !== 51) throw new TypeError('list')
      },
      async create() {
        const now = new Date()
        const [row] = await create.execute({
          ...{ id: randomUUID(), displayName: 'new widget', description: 'A new red widget', size: 7 },
          ...{ price: 9.5, state: 'ACTIVE', tags: { env: 'prod', team: 't1' } },
          ...{ createTime: now, updateTime: now, etag: randomUUID(), accountId: mine },
        })
        if (row?.displayName !== 'new widget') throw new TypeError('create')
      },
      async update() {
        const row = own[n++ % own.length]
        const [updated] = await update.execute({
          ...{ displayName: 'renamed', updateTime: new Date(), etag: randomUUID() },
          ...{ tenant: mine, key: row.id, before: row.etag },
        })
        if (updated === undefined) throw new TypeError('update')
        row.etag = updated.etag
      },
    },
    async tearDown() {
      await pool.query('DELETE FROM widgets WHERE account_id = $1', [mine])
      await pool.end()
    },
  }
}
