import { randomUUID } from 'node:crypto'
import pg from 'pg'

const COLUMNS =
  'id, display_name, description, size, price, state, tags, create_time, update_time, etag, account_id'
const SQL = {
  get: `SELECT ${COLUMNS} FROM widgets WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL`,
  list: `SELECT ${COLUMNS} FROM widgets WHERE account_id = $1 AND deleted_at IS NULL AND state = $2 AND size >= $3 ORDER BY create_time, id LIMIT $4`,
  create: `INSERT INTO widgets (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${COLUMNS}`,
  update: `UPDATE widgets SET display_name = $1, update_time = $2, etag = $3 WHERE account_id = $4 AND id = $5 AND etag = $6 AND deleted_at IS NULL RETURNING ${COLUMNS}`,
}

/** Carefully written code for one table: named prepared statements on a pool that return rows. */
export function widgetsSql() {
  const pool = new pg.Pool({ connectionString: process.env.BENCH_DATABASE_URL, max: 10 })
  const query = async (name, values) => (await pool.query({ name, text: SQL[name], values })).rows
  return {
    get: async (tenant, id) => (await query('get', [tenant, id]))[0],
    async list(tenant, size) {
      const rows = await query('list', [tenant, 'ACTIVE', 100, size + 1])
      const more = rows.length > size
      if (more) rows.length = size
      const last = rows.at(-1)
      const token = more ? Buffer.from(`${last.create_time.getTime()},${last.id}`).toString('base64url') : ''
      return { rows, token }
    },
    async create(tenant, id, { displayName, description, size, price, state, tags }) {
      const now = new Date()
      const values = [displayName, description, size, price, state, tags, now, now, randomUUID(), tenant]
      return (await query('create', [id === '' ? randomUUID() : id, ...values]))[0]
    },
    update: async (tenant, id, etag, displayName) =>
      (await query('update', [displayName, new Date(), randomUUID(), tenant, id, etag]))[0],
  }
}
