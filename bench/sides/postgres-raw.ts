import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Side } from '../subject.js'
import { benchUrl, POOL } from './postgres-address.js'
import {
  fill,
  fillOwn,
  ownBatch,
  type OwnRow,
  ownTenant,
  randomKeys,
  randomRow,
  tenantOf,
} from './postgres-data.js'

const COLUMNS =
  'id, display_name, description, size, price, state, tags, create_time, update_time, etag, account_id, deleted_at'

/**
 * Carefully written code on a pool: named prepared statements for lookups by key, and lists that are planned
 * for their tenant.
 */
export async function setUp(): Promise<Side> {
  await fill()
  const pool = new pg.Pool({ connectionString: benchUrl(), max: POOL })
  const query = async (name: string, text: string, values: unknown[]) =>
    (await pool.query({ name, text, values })).rows as Record<string, unknown>[]
  const list = async (text: string, values: unknown[]) => (await pool.query(text, values)).rows as unknown[]
  const mine = ownTenant('raw')
  const insert = (id: string, name: string, size: number) => {
    const now = new Date()
    return query(
      'create',
      `INSERT INTO widgets (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, NULL) RETURNING ${COLUMNS}`,
      [
        id,
        name,
        'A new red widget',
        size,
        9.5,
        'ACTIVE',
        { env: 'prod', team: 't1' },
        now,
        now,
        randomUUID(),
        mine,
      ],
    )
  }
  const own = await fillOwn(mine)
  const update =
    'UPDATE widgets SET display_name = $1, update_time = $2, etag = $3 WHERE account_id = $4 AND id = $5'
  let n = 0
  const turn = () => n++
  return {
    operations: {
      async get() {
        const { tenant, key } = randomRow()
        const rows = await query(
          'get',
          `SELECT ${COLUMNS} FROM widgets WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL`,
          [tenant, key],
        )
        if (rows[0]?.['id'] !== key) throw new TypeError(key)
      },
      async list() {
        const text = `SELECT ${COLUMNS} FROM widgets WHERE account_id = $1 AND deleted_at IS NULL AND state = $2 AND size >= $3 ORDER BY create_time, id LIMIT 51`
        if ((await list(text, [tenantOf(turn()), 'ACTIVE', 100])).length !== 51) throw new TypeError('list')
      },
      async 'page 1'() {
        const text = `SELECT ${COLUMNS} FROM widgets WHERE account_id = $1 AND deleted_at IS NULL ORDER BY create_time, id LIMIT 51`
        if ((await list(text, [tenantOf(turn() % 10)])).length !== 51) throw new TypeError('page')
      },
      async 'page 181'() {
        const text = `SELECT ${COLUMNS} FROM widgets WHERE account_id = $1 AND deleted_at IS NULL ORDER BY create_time, id LIMIT 51 OFFSET 9000`
        if ((await list(text, [tenantOf(turn() % 10)])).length !== 51) throw new TypeError('page')
      },
      async create() {
        if ((await insert(randomUUID(), 'new widget', 7))[0]?.['display_name'] !== 'new widget')
          throw new TypeError('create')
      },
      async update() {
        const row = own[turn() % own.length] as OwnRow
        const text = `${update} AND etag = $6 AND deleted_at IS NULL RETURNING ${COLUMNS}`
        const [updated] = await query('update', text, [
          'renamed',
          new Date(),
          randomUUID(),
          mine,
          row.id,
          row.etag,
        ])
        if (updated === undefined) throw new TypeError('update')
        row.etag = updated['etag'] as string
      },
      async 'batchGet 100'() {
        const { tenant, keys } = randomKeys(100)
        const rows = await query(
          'batchGet',
          `SELECT ${COLUMNS} FROM widgets WHERE account_id = $1 AND id = ANY($2) AND deleted_at IS NULL`,
          [tenant, keys],
        )
        const byKey = new Map(rows.map((row) => [row['id'], row]))
        if (keys.map((key) => byKey.get(key)).some((row) => row === undefined))
          throw new TypeError('batchGet')
      },
      async 'batchUpdate 1000'() {
        const client = await pool.connect()
        try {
          await client.query('BEGIN')
          for (const row of ownBatch(own, turn())) {
            const values = ['batched', new Date(), randomUUID(), mine, row.id]
            const { rows } = await client.query({
              name: 'loop',
              text: `${update} AND deleted_at IS NULL RETURNING ${COLUMNS}`,
              values,
            })
            row.etag = (rows[0] as { etag: string }).etag
          }
          await client.query('COMMIT')
        } finally {
          client.release()
        }
      },
    },
    async tearDown() {
      await pool.query('DELETE FROM widgets WHERE account_id = $1', [mine])
      await pool.end()
    },
  }
}
