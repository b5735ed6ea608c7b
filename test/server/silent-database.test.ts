import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../examples/widgets/widget.js'
import { DeadlineExceeded } from '../../lib/errors.js'
import { Health } from '../../lib/gen/grpc/health/v1/health_pb.js'
import { executorOf } from '../../lib/persistence/engines/executor-of.js'
import { HotDataSource } from '../../lib/persistence/hot-reload/hot-data-source.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { transaction } from '../../lib/persistence/sql/transaction.js'
import { TcpProxy } from '../support/running/tcp-proxy.js'
import { testDatabase } from '../support/databases/test-database.js'
import { drilling } from '../support/drill.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { rejection } from '../support/rejection.js'
import { serviceUrl } from '../support/running/services.js'
import { ALICE, type RunningServer, startServer } from '../support/servers/server.js'
import { until } from '../support/until.js'

const ENGINES = [
  { engine: 'postgres', service: 'postgres', port: 5432, type: 'postgres' },
  { engine: 'mariadb', service: 'mysql', port: 3306, type: 'mariadb' },
] as const
const SOURCES = ['DataSource', 'HotDataSource'] as const

for (const { engine, service, port, type } of ENGINES)
  for (const source of SOURCES)
    describe(`a ${source} on ${engine} that does not respond any more`, () => {
      let [database, proxy]: [Awaited<ReturnType<typeof testDatabase>>, TcpProxy] = [] as never
      let dataSource: DataSource
      let [running, client, health]: [RunningServer, ForeignClient, ForeignClient] = [] as never

      before(async function () {
        if (serviceUrl(service) === undefined) return this.skip()
        database = await testDatabase(service)
        const direct = await new DataSource({ type, url: database.url, entities: [Widget] }).initialize()
        await createTables(direct, [Widget], engine)
        await direct.destroy()
        proxy = await TcpProxy.before(database.url, port)
        dataSource =
          source === 'DataSource'
            ? new DataSource({ type, url: proxy.url, entities: [Widget], poolSize: 2 })
            : new HotDataSource({ dsn: proxy.url, entities: [Widget], poolSize: 2 })
        const widgets = new TypeormRepository(await dataSource.initialize(), Widget)
        running = await startServer(
          (builder) => builder.register(WidgetService, widgets, { retireWidget: () => ({}) }),
          { resilience: { requestTimeoutMs: 400 } },
        )
        client = new ForeignClient(WidgetService, running.grpc)
        health = new ForeignClient(Health, running.grpc)
      })
      beforeEach(async () => {
        await works()
        running.records.length = 0
      })
      afterEach(() => proxy?.open())
      after(async () => {
        client?.close()
        health?.close()
        await running?.stop()
        await dataSource?.destroy()
        await proxy?.close()
        await database?.drop()
      })

      const list = async (options = {}) =>
        status[(await client.unary('ListWidgets', {}, ALICE, options)).code]
      /** Where the machine is busy the time of a call can be over all the same. */
      const works = () => until(async () => (await list()) === 'OK')
      const serving = async () => (await health.unary('Check', {})).answer?.['status']
      const readyz = async () => (await fetch(`${running.http}/readyz`)).status

      const isShort = (engine === 'postgres') === (source === 'DataSource')
      for (const [who, end] of Object.entries({
        'the timeout of a method': () => list(),
        'the deadline of a client': () => list({ deadline: Date.now() + 200 }),
        'the end of an HTTP client': async () => {
          const signal = AbortSignal.timeout(200)
          const gone = await fetch(`${running.http}/v1/widgets`, { headers: ALICE, signal }).catch(
            () => 'gone',
          )
          return gone === 'gone' ? 'DEADLINE_EXCEEDED' : 'OK'
        },
      }).slice(0, drilling ? 3 : isShort ? 1 : 0))
        it(`makes the server not ready from ${who} until it responds, and nobody has to probe`, async () => {
          proxy.silence()
          expect(await end()).to.equal('DEADLINE_EXCEEDED')
          await until(async () => (await serving()) === 'NOT_SERVING')
          expect(await readyz()).to.equal(503)
          proxy.open()
          await works()
          await until(async () => (await readyz()) === 200)
          await until(async () => (await serving()) === 'SERVING')
        })

      it('tells callers and the log where no connection is free', async () => {
        let go = () => {}
        const end = new Promise<void>((resolve) => (go = resolve))
        let held = 0
        const holders = [1, 2].map(() =>
          transaction(dataSource, () => {
            held++
            return end
          }),
        )
        await until(() => held === 2)
        try {
          const why = 'all 2 are in use: raise poolSize, or look for transactions that take long'
          expect(await Promise.all([1, 2, 3].map(() => list()))).to.deep.equal(
            Array(3).fill('DEADLINE_EXCEEDED'),
          )
          await rejection(
            executorOf(dataSource).lease({ signal: AbortSignal.timeout(10) }),
            DeadlineExceeded,
            `deadline exceeded without a connection: ${why}`,
          )
          const lines = running.records.filter(({ fields }) => JSON.stringify(fields['err'])?.includes(why))
          expect(lines.map(({ level, message }) => [level, message])).to.deep.equal([
            ['error', 'calls wait for a connection without success'],
          ])
        } finally {
          go()
          await Promise.all(holders)
        }
      })
    })
