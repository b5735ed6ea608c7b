import { expect } from 'chai'
import { BoundedCache } from '../../../lib/bounded-cache.js'
import { current, transaction } from '../../../lib/persistence/sql/transaction.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { run } from '../../support/databases/statement.js'
import { echoService } from '../../support/grpc/echo.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'

const METRICS = { metricsAddr: '127.0.0.1:0' }

/** The value of the one sample with these labels. */
const sample = (text: string, name: string, labels: Readonly<Record<string, string>>): number | undefined => {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const line = text
    .split('\n')
    .find((each) => each.startsWith(`${name}{`) && parts.every((part) => each.includes(part)))
  return line === undefined ? undefined : Number(line.split(' ')[1])
}

describe('metrics for Prometheus', () => {
  let running: RunningServer
  let url: string
  const scrape = async () => (await fetch(url)).text()

  before(async () => {
    running = await startServer((builder) => builder.register(EchoService, echoService), METRICS)
    url = `http://${running.server.metricsAddr()}/metrics`
  })
  after(() => running.stop())

  it('count calls by method and code, over both listeners', async () => {
    const client = new ForeignClient(EchoService, running.grpc)
    await client.unary('Echo', { text: 'a' }, ALICE)
    await client.unary('Echo', { text: 'a' }, {})
    client.close()
    await fetch(`${running.http}/v1/echo`, post(ALICE))
    const text = await scrape()
    const method = { rpc_system_name: 'grpc', rpc_method: 'specimens.v1.EchoService/Echo' }
    const count = 'rpc_server_call_duration_seconds_count'
    const codes = ['OK', 'PERMISSION_DENIED'].map((code) =>
      sample(text, count, { ...method, rpc_response_status_code: code }),
    )
    expect(codes).to.deep.equal([2, 1])
    expect(text).to.not.match(/rpc_server_duration|rpc_service|duration_(?!seconds)/)
  })

  it('count requests of methods that somebody made up together', async () => {
    for (const method of ['MKCALENDAR', 'PROPFIND']) await fetch(`${running.http}/nothing`, { method })
    const text = await scrape()
    const labels = { http_request_method: '_OTHER', http_response_status_code: '404' }
    expect(sample(text, 'http_server_request_duration_seconds_count', labels)).to.equal(2)
    expect(text).to.not.match(/MKCALENDAR|PROPFIND/)
  })

  it('count requests by route, never by path or probe', async () => {
    await fetch(`${running.http}/v1/echo`, post(ALICE))
    await fetch(`${running.http}/nothing/at/secret-7`)
    await fetch(`${running.http}/healthz`)
    const text = await scrape()
    const labels = { http_route: '/v1/echo', http_response_status_code: '200', http_request_method: 'POST' }
    expect(sample(text, 'http_server_request_duration_seconds_count', labels)).to.be.greaterThan(0)
    expect(
      sample(text, 'http_server_request_duration_seconds_bucket', { ...labels, le: '10' }),
    ).to.be.greaterThan(0)
    expect(text).to.not.match(/secret-7|healthz/)
  })

  it('are in the format of Prometheus, at one path of their own listener', async () => {
    const response = await fetch(url)
    expect(response.headers.get('content-type')).to.match(/^text\/plain/)
    expect(
      (await response.text()).split('\n').filter((line) => !/^(#|[a-z_]+({.*})? [^ ]+$|$)/.test(line)),
    ).to.deep.equal([])
    expect((await fetch(url, { method: 'POST' })).status).to.equal(405)
    expect((await fetch(url.replace('/metrics', '/other'))).status).to.equal(404)
    expect((await fetch(`${running.http}/metrics`)).status).to.equal(404)
  })

  it('tell how many entries caches hold, as long as those are there', async () => {
    const entries = async (name: string) =>
      sample(await scrape(), 'ashlar_cache_entries', { ashlar_cache_name: name })
    const cache = new BoundedCache<string, number>(2, 'tests_of_metrics')
    expect(await entries('tests_of_metrics')).to.equal(0)
    for (const key of ['a', 'b', 'c']) cache.set(key, 1)
    new BoundedCache<string, number>(2, 'tests_of_metrics').set('d', 1)
    expect(await entries('tests_of_metrics')).to.be.within(2, 3)
    expect(cache.size).to.equal(2)
  })

  it('say how far workers are, in the process that does the work', async () => {
    const worker = (name: string, isLeading: boolean) => ({
      ...{ start: () => {}, drain: () => Promise.resolve() },
      status: () => Promise.resolve({ name, isLeading, lag: 7 }),
    })
    const workers = [worker('relay:nats', true), worker('consumer:mails', false)]
    const other = await startServer((builder) => builder.register(EchoService, echoService), {
      ...METRICS,
      workers,
    })
    const text = await (await fetch(`http://${other.server.metricsAddr()}/metrics`)).text()
    expect(sample(text, 'ashlar_events_lag', { ashlar_events_worker: 'relay:nats' })).to.equal(7)
    expect(text).to.not.contain('consumer:mails')
    await other.stop()
  })

  it('end with the server', async () => {
    const other = await startServer((builder) => builder.register(EchoService, echoService), METRICS)
    const address = `http://${other.server.metricsAddr()}/metrics`
    expect((await fetch(address)).status).to.equal(200)
    await other.stop()
    expect(await fetch(address).catch(() => 'refused')).to.equal('refused')
  })
})

const pooled = databases.filter(({ name }) => name !== 'sqlite' && name !== 'better-sqlite3')

describeOn('metrics of statements', databases, ({ open }) => {
  it('tell how long each took, by operation and error, in transactions as well', async () => {
    const backend = await open([])
    const running = await startServer((builder) => builder.register(EchoService, echoService), METRICS)
    const { dialect, dataSource } = backend.database!
    await run(backend.database!, 'SELECT 1')
    await run(backend.database!, 'SELECT nothing FROM nowhere').catch(() => {})
    await transaction(backend.database!, async () => {
      await run(current(backend.database!), 'SELECT 2')
    })
    const text = await (await fetch(`http://${running.server.metricsAddr()}/metrics`)).text()
    await running.stop()
    await backend.close()
    const system = { postgres: 'postgresql', mysql: 'mysql', mariadb: 'mariadb', sqlite: 'sqlite' }[
      dialect.name
    ]
    const labels = { db_system_name: system, db_namespace: dataSource.driver.database ?? '' }
    const counted = text
      .split('\n')
      .filter((line) => line.startsWith('db_client_operation_duration_seconds_count'))
      .filter((line) => Object.entries(labels).every(([name, value]) => line.includes(`${name}="${value}"`)))
      .filter((line) => line.includes('db_operation_name="SELECT"'))
    const isFailed = (line: string) => line.includes('error_type="')
    expect(counted.filter((line) => !isFailed(line)).map((line) => Number(line.split(' ')[1]))).to.deep.equal(
      [2],
    )
    expect(counted.filter(isFailed).map((line) => Number(line.split(' ')[1]))).to.deep.equal([1])
  })
})

describeOn('metrics of a pool', pooled, ({ open }) => {
  let backend: OpenBackend
  let running: RunningServer
  before(async () => {
    backend = await open([])
    running = await startServer((builder) => builder.register(EchoService, echoService), METRICS)
  })
  after(async () => {
    await running?.stop()
    await backend?.close()
  })

  it('tell how many connections are held', async () => {
    const database = backend.database!
    const used = async () => {
      const text = await (await fetch(`http://${running.server.metricsAddr()}/metrics`)).text()
      const pool = database.dataSource.driver.database ?? ''
      return sample(text, 'db_client_connection_count', { db_client_connection_pool_name: pool })
    }
    await run(database, 'SELECT 1')
    expect(await used()).to.equal(0)
    await transaction(database, async () => {
      expect(await used()).to.equal(1)
    })
    await run(database, 'SELECT nothing FROM nowhere').catch(() => {})
    expect(await used()).to.equal(0)
  })

  it('tell how many calls shared how many statements', async () => {
    const database = backend.database!
    const figures = async () => {
      const text = await (await fetch(`http://${running.server.metricsAddr()}/metrics`)).text()
      const pool = { db_client_connection_pool_name: database.dataSource.driver.database ?? '' }
      return ['statements', 'calls'].map((what) => sample(text, `ashlar_db_shared_${what}_total`, pool))
    }
    for (const calls of [1, 3, 5]) await run(database, 'SELECT 1', [], { calls })
    expect(await figures()).to.deep.equal([2, 8])
  })
})
