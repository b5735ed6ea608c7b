import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { benchUrl, POOL } from '../../dist/bench/sides/postgres-address.js'
import { fill, fillOwn, ownTenant, randomRow, tenantOf } from '../../dist/bench/sides/postgres-data.js'

/** Tagged templates, which postgres.js prepares automatically. */
export async function setUp() {
  await fill()
  const sql = postgres(benchUrl(), { max: POOL })
  const columns = sql`id, display_name, description, size, price, state, tags, create_time, update_time, etag, account_id, deleted_at`
  const mine = ownTenant('postgres-js')
  const own = await fillOwn(mine)
  let n = 0
  return {
    operations: {
      async get() {
        const { tenant, key } = randomRow()
        const [row] =
          await sql`SELECT ${columns} FROM widgets WHERE account_id = ${tenant} AND id = ${key} AND deleted_at IS NULL`
        if (row?.id !== key) throw new TypeError(key)
      },
      async list() {
        const rows =
          await sql`SELECT ${columns} FROM widgets WHERE account_id = ${tenantOf(n++)} AND deleted_at IS NULL AND state = ${'ACTIVE'} AND size >= ${100} ORDER BY create_time, id LIMIT 51`
        if (rows.length !== 51) throw new TypeError('list')
      },
      async create() {
        const now = new Date()
        const [row] =
          await sql`INSERT INTO widgets (${columns}) VALUES (${randomUUID()}, ${'new widget'}, ${'A new red widget'}, ${7}, ${9.5}, ${'ACTIVE'}, ${sql.json({ env: 'prod', team: 't1' })}, ${now}, ${now}, ${randomUUID()}, ${mine}, NULL) RETURNING ${columns}`
        if (row?.display_name !== 'new widget') throw new TypeError('create')
      },
      async update() {
        const row = own[n++ % own.length]
        const [updated] =
          await sql`UPDATE widgets SET display_name = ${'renamed'}, update_time = ${new Date()}, etag = ${randomUUID()} WHERE account_id = ${mine} AND id = ${row.id} AND etag = ${row.etag} AND deleted_at IS NULL RETURNING ${columns}`
        if (updated === undefined) throw new TypeError('update')
        row.etag = updated.etag
      },
    },
    async tearDown() {
      await sql`DELETE FROM widgets WHERE account_id = ${mine}`
      await sql.end()
    },
  }
}
