import { expect } from 'chai'
import { createConnection } from 'mysql2/promise'
import { randomInt } from 'node:crypto'
import { Client } from 'pg'
import { migrate } from '../../../lib/migrations/index.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'
import { runHost } from '../../migrations/hosts/run-host.js'
import { drill, drilling } from '../../support/drill.js'

const FIRST = 1_000
const ROWS = FIRST * 2 ** drill(4, 10)
const WRITERS = 2
const LONGEST_MS = 1_000

/**
 * Small chunks and an early end in `npm test`; in the drill kill -9 every two seconds: a million rows take
 * about ten.
 */
const CHUNK = drill(200, 1_000)
const DEATH = drilling ? { dieAfterMs: 2_000 } : { die: { at: 30, when: 'chunk' } as const }

interface Connection {
  readonly run: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>
  readonly close: () => Promise<void>
}

async function connectTo(url: string): Promise<Connection> {
  if (url.startsWith('postgres')) {
    const client = new Client(url)
    await client.connect()
    return {
      run: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
      close: () => client.end(),
    }
  }
  const connection = await createConnection(url)
  const run = async (sql: string) => {
    const [found] = await connection.query(sql)
    return Array.isArray(found) ? (found as Record<string, unknown>[]) : []
  }
  return { run, close: () => connection.end() }
}

onEachEngine('a backfill whose host is killed again and again', (database, dialect) => {
  const text =
    dialect === 'postgres' ? 'text COLLATE "C"' : 'varchar(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
  const files = file(
    '0002_t',
    `CREATE TABLE t (account_id ${text}, id bigint, a int NOT NULL, b int NOT NULL DEFAULT 0, touched int NOT NULL DEFAULT 0,
       PRIMARY KEY (account_id, id))`,
    'DROP TABLE t',
  )
  const all = {
    ...files,
    ...file('0003_fill', `-- ashlar:backfill chunk=${CHUNK}\nUPDATE t SET b = b + a`, '-- the column goes'),
  }
  /** Milliseconds that a statement of the migration runs. */
  const running =
    dialect === 'postgres'
      ? `SELECT extract(epoch FROM clock_timestamp() - query_start) * 1000 AS ms FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'ashlar migrate%' AND state = 'active'`
      : `SELECT TIME_MS AS ms FROM information_schema.PROCESSLIST
         WHERE DB = DATABASE() AND COMMAND IN ('Query', 'Execute') AND INFO LIKE 'UPDATE t SET b%'`

  it('writes each row exactly once, and holds nobody up', async () => {
    const { url, rows } = database()
    await migrate({ url, files }).up()
    await rows(
      `INSERT INTO t (account_id, id, a) VALUES ${Array.from({ length: FIRST }, (_, id) => `('t${id % 7}', ${id}, 1)`).join(', ')}`,
    )
    for (let there = FIRST; there < ROWS; there *= 2)
      await rows(`INSERT INTO t (account_id, id, a) SELECT account_id, id + ${there}, a FROM t`)
    if (dialect === 'postgres') await rows('ANALYZE t')

    let isOver = false
    let [touched, slowest, longest, kills] = [0, 0, 0, 0]
    const repeatedly = async (work: (connection: Connection) => Promise<void>) => {
      const connection = await connectTo(url)
      while (!isOver) await work(connection)
      await connection.close()
    }
    const load = Array.from({ length: WRITERS }, () =>
      repeatedly(async ({ run }) => {
        const id = randomInt(ROWS)
        const began = performance.now()
        await run(
          `UPDATE t SET touched = touched + 1 WHERE account_id = 't${(id % FIRST) % 7}' AND id = ${id}`,
        )
        slowest = Math.max(slowest, performance.now() - began)
        touched++
      }),
    )
    const watch = repeatedly(async ({ run }) => {
      for (const { ms } of await run(running)) longest = Math.max(longest, Number(ms))
      await new Promise((resolve) => setTimeout(resolve, 20))
    })
    const began = performance.now()
    const orders = { options: { url, files: all } }
    while ((await runHost({ ...orders, ...DEATH })) === undefined) kills++
    isOver = true
    await Promise.all([...load, watch])

    const [sums] = await rows(
      'SELECT count(*) AS n, sum(b) AS b, max(b) AS most, min(b) AS least, sum(touched) AS touched FROM t',
    )
    const seen = Object.values(sums ?? {}).map(Number)
    process.stdout.write(
      `      ${dialect}: ${ROWS} rows in ${Math.round(performance.now() - began)} ms, ${kills} kills, ${touched} calls beside it, ` +
        `the slowest ${Math.round(slowest)} ms; longest statement seen ${Math.round(longest)} ms\n`,
    )
    expect(kills).to.be.greaterThan(0)
    expect(seen).to.deep.equal([ROWS, ROWS, 1, 1, touched])
    if (drilling) expect(longest).to.be.lessThan(LONGEST_MS)
  })
})
