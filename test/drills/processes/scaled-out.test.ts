import { expect } from 'chai'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { createClient } from 'redis'
import { DataSource } from 'typeorm'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { pooled } from '../../support/databases/backends.js'
import { testDatabase } from '../../support/databases/test-database.js'
import { drill, drilling } from '../../support/drill.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { PGBOUNCER_POOL } from '../../support/running/pgbouncer.js'
import { serviceUrl } from '../../support/running/services.js'
import { leftOut } from '../../support/running/summary.js'
import { ALICE } from '../../support/servers/server.js'

const PROCESSES = drill(2, 4)
const CALLERS = drill(8, 64)
const DURATION_MS = drill(1_000, 30_000)
/** Connections of each process to PgBouncer. */
const POOL_SIZE = 5
const POINTS = 20
const ROWS = 4
const LIMITED = `limited-${process.pid}`
const [OK, RESOURCE_EXHAUSTED, FAILED_PRECONDITION] = [0, 8, 9]

interface Host {
  readonly process: ChildProcess
  readonly client: ForeignClient
  calls: number
}

/** What one sample of PgBouncer's pools shows of the database. */
interface Connections {
  readonly clients: number
  readonly servers: number
}

describe('several processes on one PostgreSQL', () => {
  const services = ['postgres', 'pgbouncer', 'redis'] as const
  const missing = services.filter((service) => serviceUrl(service) === undefined)
  if (missing.length > 0 || pooled.length === 0) {
    leftOut('several processes on one PostgreSQL', `no ${missing.join(', ')}`)
    it('has no server to talk to', function () {
      this.skip()
    })
    return
  }
  let database: Awaited<ReturnType<typeof testDatabase>>
  let dataSource: DataSource
  let name: string
  const hosts: Host[] = []

  before(async () => {
    database = await testDatabase('postgres')
    name = new URL(database.url).pathname.slice(1)
    dataSource = new DataSource({ type: 'postgres', url: database.url, entities: [Widget] })
    await dataSource.initialize()
    await applyBaseline(dataSource)
    await createTables(dataSource, [Widget], 'postgres')
    const through = Object.assign(new URL(serviceUrl('pgbouncer') as string), { pathname: name }).href
    hosts.push(...(await Promise.all(Array.from({ length: PROCESSES }, () => startHost(through)))))
  })

  after(async () => {
    for (const { client, process } of hosts) {
      client.close()
      process.kill('SIGKILL')
    }
    await dataSource?.destroy()
    await database?.drop()
    await forget()
  })

  const send = async (
    at: number,
    method: string,
    request: object,
    headers: object = {},
  ): Promise<Outcome> => {
    const host = hosts[at % PROCESSES] as Host
    const outcome = await host.client.unary(method, request, { ...ALICE, ...headers })
    host.calls++
    return outcome
  }

  it(`do nothing twice in ${DURATION_MS / 1000} s, with no more connections than stated`, async () => {
    const rows = await Promise.all(
      Array.from({ length: ROWS }, async (_, n) => {
        const { answer } = await send(n, 'CreateWidget', { widget: { display_name: 'counted' } })
        return { id: answer?.['id'] as string, written: 0 }
      }),
    )
    const cpuBefore = await Promise.all(hosts.map(cpuUs))
    for (const host of hosts) host.calls = 0
    const made: string[] = []
    const samples: Connections[] = []
    const problems: string[] = []
    const told = ({ code, details }: Outcome, ...fine: number[]): boolean => {
      if (code !== OK && !fine.includes(code)) problems.push(`${code}: ${details}`)
      return code === OK
    }
    const since = Date.now()
    const isOn = () => Date.now() - since < DURATION_MS

    /** The same request of a client that has sent it again, to another process. */
    const createTwice = async (caller: number, n: number) => {
      const key = `made-${process.pid}-${caller}-${n}`
      const request = { widget: { display_name: key } }
      const both = await Promise.all(
        [0, 1].map((at) => send(caller + at, 'CreateWidget', request, { 'idempotency-key': key })),
      )
      if (both.map((outcome) => told(outcome)).includes(false)) return
      made.push(key)
      if (both[0]?.answer?.['id'] !== both[1]?.answer?.['id']) problems.push(`two rows for ${key}`)
    }
    /** Reads, and writes only what nobody else has written since. */
    const count = async (caller: number, n: number) => {
      const row = rows[(caller + n) % ROWS] as (typeof rows)[number]
      const read = await send(caller + n, 'GetWidget', { id: row.id })
      if (!told(read)) return
      const widget = { id: row.id, size: Number(read.answer?.['size']) + 1, etag: read.answer?.['etag'] }
      const wrote = await send(caller + n + 1, 'UpdateWidget', { widget, update_mask: ['size'] })
      if (told(wrote, FAILED_PRECONDITION)) row.written++
    }
    const caller = async (_: unknown, at: number) => {
      for (let n = 0; isOn(); n++) await (n % 4 === 0 ? createTwice(at, n) : count(at, n))
    }
    const watch = async () => {
      const admin = new Client({
        connectionString: serviceUrl('pgbouncer')?.replace(/\/[^/]*$/, '/pgbouncer') as string,
      })
      await admin.connect()
      do samples.push(await connectionsTo(admin, name))
      while (isOn() && (await pause(50, true)))
      await admin.end()
    }
    await Promise.all([watch(), ...Array.from({ length: CALLERS }, caller)])
    const seconds = (Date.now() - since) / 1000
    const cpuAfter = await Promise.all(hosts.map(cpuUs))

    expect(problems.slice(0, 3)).to.deep.equal([])
    const counted: { display_name: string; n: string }[] = await dataSource.query(
      `SELECT display_name, count(*) AS n FROM widgets WHERE display_name LIKE 'made-%' GROUP BY display_name`,
    )
    expect(counted.length).to.equal(made.length)
    expect(counted.filter(({ n }) => n !== '1')).to.deep.equal([])
    for (const { id, written } of rows) {
      const [row]: { size: number }[] = await dataSource.query('SELECT size FROM widgets WHERE id = $1', [id])
      expect(row?.size, 'updates that were acknowledged').to.equal(written)
    }

    const clients = Math.max(...samples.map((sample) => sample.clients))
    const servers = Math.max(...samples.map((sample) => sample.servers))
    expect(clients, 'connections to PgBouncer').to.be.within(PROCESSES, PROCESSES * POOL_SIZE)
    expect(servers, 'connections to PostgreSQL').to.be.within(1, PGBOUNCER_POOL)
    const lines = hosts.map(({ calls }, at) => {
      expect(calls).to.be.greaterThan(0)
      const us = ((cpuAfter[at] as number) - (cpuBefore[at] as number)) / calls
      return `process ${at}: ${Math.round(calls / seconds)} calls/s, ${Math.round(us)} µs of CPU a call`
    })
    lines.push(`${clients} connections to PgBouncer, ${servers} to PostgreSQL`)
    if (drilling) process.stdout.write(lines.map((line) => `      ${line}\n`).join(''))
  })

  it('share the limit of a tenant', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 3 * POINTS }, (_, n) =>
        send(n, 'ListWidgets', { page_size: 1 }, { 'account-id': LIMITED }),
      ),
    )
    const codes = outcomes.map(({ code }) => code)
    expect(codes.filter((code) => code === OK).length).to.equal(POINTS)
    expect(codes.filter((code) => code === RESOURCE_EXHAUSTED).length).to.equal(2 * POINTS)
  })
})

async function startHost(url: string): Promise<Host> {
  const script = fileURLToPath(new URL('../hosts/scaled-out.js', import.meta.url))
  const child = fork(script, [url, serviceUrl('redis') as string, String(POOL_SIZE), LIMITED, String(POINTS)])
  const [{ address }] = (await once(child, 'message')) as [{ readonly address: string }]
  return { process: child, client: new ForeignClient(WidgetService, address), calls: 0 }
}

async function cpuUs({ process }: Host): Promise<number> {
  process.send('cpu')
  const [report] = (await once(process, 'message')) as [{ readonly cpuUs: number }]
  return report.cpuUs
}

async function connectionsTo(admin: Client, name: string): Promise<Connections> {
  const count = async (what: string): Promise<number> => {
    const { rows } = await admin.query<{ readonly database: string }>(`SHOW ${what}`)
    return rows.filter(({ database }) => database === name).length
  }
  return { clients: await count('CLIENTS'), servers: await count('SERVERS') }
}

async function forget(): Promise<void> {
  const redis = createClient({ url: serviceUrl('redis') as string })
  await redis.connect()
  for (const pattern of [`ashlar:idempotency:*made-${process.pid}-*`, `${LIMITED}*`])
    for await (const keys of redis.scanIterator({ MATCH: pattern }))
      if (keys.length > 0) await redis.del(keys)
  await redis.close()
}
