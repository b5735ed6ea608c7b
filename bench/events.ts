import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Emits, Resource, TenantScoped } from '../decorators/index.js'
import { natsSink, relay } from '../lib/events/index.js'
import { Sequencer } from '../lib/events/log/sequencer.js'
import { RequestContext } from '../lib/context.js'
import { cloudEvent } from '../lib/persistence/outbox/events/cloud-event.js'
import { OutboxWriter } from '../lib/persistence/outbox/sql/outbox-writer.js'
import { repositoryFor } from '../lib/persistence/repository-of.js'
import { createTables } from '../lib/persistence/schema/create-tables.js'
import { executorOf } from '../lib/persistence/engines/executor-of.js'
import { applyBaseline } from '../test/support/databases/baseline.js'
import { type TestStream, testStream } from '../test/support/databases/on-nats.js'
import { testDatabase } from '../test/support/databases/test-database.js'
import { writeRun } from './recorded-runs.js'

/**
 * `npm run bench:events`: measures how fast events are written, sequenced and delivered, on the test servers
 * of PostgreSQL, MariaDB and NATS.
 */
const [EVENTS, CALLERS, LOAD_MS] = [40_000, 64, 5000]
/** The loads in creates per second under which the lag is measured, and the duration of each. */
const [LOADS, LAG_MS] = [[100, 500, 1000], 8000] as const

@Resource()
@Entity('quiet')
@TenantScoped()
class Quiet {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) title!: string
  accountId!: string
}

@Resource()
@Entity('told')
@TenantScoped()
@Emits()
class Reported {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) title!: string
  accountId!: string
}

/** The figures recorded by `--json FILE`, each on both engines. */
const figures = new Map<string, { what: string; unit: string; values: Record<string, number> }>()
function record(what: string, type: 'postgres' | 'mariadb', value: number, unit: string): void {
  const engine = type === 'postgres' ? 'PostgreSQL' : 'MariaDB'
  figures.set(what, { what, unit, values: { ...figures.get(what)?.values, [engine]: value } })
}

const say = (text: string) => void process.stdout.write(`${text}\n`)
const rate = (count: number, ms: number) => Math.round((count / ms) * 1000)
const perSecond = (count: number, ms: number) => `${rate(count, ms).toLocaleString('en')}/s`
const principal = { tenant: 'acme', subject: 'bench', groups: [], scopes: [] }

/**
 * Creates rows from several concurrent callers for the given time.
 * @returns the number of rows created per second.
 */
async function creates(make: () => Promise<unknown>, ms: number): Promise<number> {
  const end = performance.now() + ms
  let count = 0
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (; performance.now() < end; count++) await make()
    }),
  )
  return (count / ms) * 1000
}

/** Starts a number of calls per second, whether or not earlier calls have ended. */
async function paced(perSecond: number, ms: number, make: () => Promise<unknown>): Promise<void> {
  const [begin, calls] = [performance.now(), [] as Promise<unknown>[]]
  for (let now = begin; now < begin + ms; now = performance.now()) {
    while (calls.length < ((now - begin) / 1000) * perSecond) calls.push(make())
    await pause(2)
  }
  await Promise.all(calls)
}

/** Returns the age of each event of the stream at its arrival, in milliseconds. */
async function lags(stream: TestStream, work: () => Promise<void>): Promise<readonly number[]> {
  const found: number[] = []
  const heard = stream.connection.subscribe(`${stream.options.prefix}.>`, {
    callback: (_, message) => {
      const { time } = JSON.parse(message.string()) as { readonly time: string }
      found.push(Date.now() - Date.parse(time))
    },
  })
  await stream.connection.flush()
  await work()
  heard.unsubscribe()
  return found.sort((a, b) => a - b)
}

for (const [server, type] of [
  ['postgres', 'postgres'],
  ['mysql', 'mariadb'],
] as const) {
  const own = await testDatabase(server)
  const { url } = own
  const dataSource = await new DataSource({ type, url, entities: [Quiet, Reported] }).initialize()
  const database = executorOf(dataSource)
  const stream = await testStream()
  try {
    await applyBaseline(dataSource)
    await createTables(dataSource, [Quiet, Reported], database.dialect.name)
    const writer = OutboxWriter.of(database)
    for (let at = 0; at < EVENTS; at += 2000)
      await writer.append(
        database,
        Array.from({ length: 2000 }, (_, n) => eventOf(at + n)),
      )
    let since = performance.now()
    await new Sequencer(database).assignAll()
    let ms = performance.now() - since
    say(`${type}: sequenced  ${perSecond(EVENTS, ms)}`)
    record('sequenced', type, rate(EVENTS, ms), '/s')

    const relaying = relay({ dataSource, sink: natsSink(stream.options) })
    since = performance.now()
    relaying.start()
    while ((await relaying.status()).position < EVENTS) await pause(20)
    ms = performance.now() - since
    say(`${type}: delivered  ${perSecond(EVENTS, ms)}`)
    record('delivered to NATS, acknowledged', type, rate(EVENTS, ms), '/s')

    const [quiet, reported] = [repositoryFor(Quiet, dataSource), repositoryFor(Reported, dataSource)]
    const context = new RequestContext({ principal })
    for (const load of LOADS) {
      const found = await lags(stream, async () => {
        const before = (await relaying.status()).position
        await paced(load, LAG_MS, () => reported.create({ title: 'a title' }, { context }))
        const [counted] = await dataSource.query<{ n: string }[]>('SELECT COUNT(*) AS n FROM told')
        const written = before + Number(counted?.n)
        await dataSource.query('DELETE FROM told')
        while ((await relaying.status()).position < written) await pause(20)
      })
      const lag = (share: number) => found[Math.floor((found.length - 1) * share)] ?? Number.NaN
      const at = (share: number) => `${lag(share)} ms`
      record(`lag at ${load} events a second, p99`, type, lag(0.99), ' ms')
      say(
        `${type}: lag        p50 ${at(0.5)}, p99 ${at(0.99)}, at most ${at(1)} at ${load} events a second (${found.length} events)`,
      )
    }
    // Workers usually run in another process.
    await relaying.drain()

    for (const chosen of [false, true]) {
      let last = 0
      const key = () => (chosen ? { id: `${process.pid}-${++last}` } : {})
      const create = (on: typeof quiet | typeof reported) => () =>
        on.create({ ...key(), title: 'a title' }, { context })
      const rates = { quiet: 0, reported: 0 }
      // Alternates, so that a disturbance of the machine affects both.
      for (let turn = 0; turn < 3; turn++) {
        rates.quiet += await creates(create(quiet), LOAD_MS / 3)
        rates.reported += await creates(create(reported), LOAD_MS / 3)
      }
      record(
        chosen ? 'the same, with keys that the callers have chosen' : 'creates with events, against without',
        type,
        Number((rates.reported / rates.quiet).toFixed(2)),
        '',
      )
      say(
        `${type}: creates    ${perSecond(rates.reported / 3, 1000)} with events, ${perSecond(rates.quiet / 3, 1000)} without: ${(rates.reported / rates.quiet).toFixed(2)}, keys ${chosen ? 'of the callers' : 'made'}`,
      )
    }
  } finally {
    await stream.close()
    await dataSource.destroy()
    await own.drop()
  }
}

const { values } = parseArgs({ options: { json: { type: 'string' } } })
if (values.json !== undefined)
  writeRun(values.json, 'npm run bench:events', { figures: [...figures.values()] })

function eventOf(at: number) {
  const data = { resource: { id: `o-${at}`, title: 'x'.repeat(200), total: 12 } }
  const facts = { source: '/order', resource: 'order', verb: 'updated', data }
  return cloudEvent({ ...facts, key: `o-${at % 500}`, tenant: `t-${at % 10}` }, { requestId: 'r-1' })
}
