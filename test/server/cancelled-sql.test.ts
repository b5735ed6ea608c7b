import { expect } from 'chai'
import { request } from 'node:http'
import { Metadata as NiceMetadata } from 'nice-grpc'
import type { DataSource } from 'typeorm'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../examples/widgets/widget.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { until } from '../support/until.js'
import { EchoService } from '../support/gen/specimens_pb.js'
import { databases, describeOn, coalesced, type OpenBackend } from '../support/databases/backends.js'
import { ForeignClient, niceClient } from '../support/grpc/clients.js'
import { ALICE, type RunningServer, startServer } from '../support/servers/server.js'
import { echoService } from '../support/grpc/echo.js'

const CREATE = '/widgets.v1.WidgetService/CreateWidget'
const SLOW = { widget: { display_name: 'slow' } }

/**
 * What a database needs to keep the insert of a slow widget busy for a minute, and to tell who is at work.
 */
const ENGINES = {
  postgres: {
    slow: [
      `CREATE FUNCTION doze() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$ LANGUAGE plpgsql`,
      `CREATE TRIGGER doze BEFORE INSERT ON widgets FOR EACH ROW WHEN (NEW.display_name = 'slow') EXECUTE FUNCTION doze()`,
    ],
    busy: `SELECT query AS text FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid()`,
    lock: ['BEGIN', 'LOCK TABLE widgets IN ACCESS EXCLUSIVE MODE'],
    unlock: 'ROLLBACK',
  },
  mysql: {
    slow: [
      `CREATE TRIGGER doze BEFORE INSERT ON widgets FOR EACH ROW BEGIN IF NEW.display_name = 'slow' THEN SET @dozed = SLEEP(60); END IF; END`,
    ],
    busy: `SELECT info AS text FROM information_schema.processlist WHERE db = DATABASE() AND command IN ('Query', 'Execute') AND id <> CONNECTION_ID()`,
    lock: ['LOCK TABLES widgets WRITE'],
    unlock: 'UNLOCK TABLES',
  },
}

describeOn(
  'the SQL of a call that nobody waits for any more',
  [...databases, ...coalesced].filter(({ name }) => ['postgres', 'mariadb', 'mysql8'].includes(name)),
  (backend) => {
    const engine = backend.name === 'postgres' ? ENGINES.postgres : ENGINES.mysql
    let opened: OpenBackend
    let dataSource: DataSource
    let running: RunningServer
    let client: ForeignClient

    before(async () => {
      opened = await backend.open([Widget])
      dataSource = opened.dataSource as DataSource
      await createTables(dataSource, [Widget], backend.name === 'postgres' ? 'postgres' : 'mariadb')
      for (const text of engine.slow) await dataSource.query(text)
      const widgets = new TypeormRepository(dataSource, Widget)
      running = await startServer(
        (builder) =>
          builder.register(WidgetService, widgets, { retireWidget: () => ({}) }).register(EchoService, {
            ...echoService,
            count: async function* () {
              yield { text: 'begun' }
              const { items } = await widgets.list()
              yield { text: String(items.length) }
            },
          }),
        { resilience: { perMethodTimeoutMs: { '/widgets.v1.WidgetService/UpdateWidget': 300 } } },
      )
      client = new ForeignClient(WidgetService, running.grpc)
    })

    after(async () => {
      client?.close()
      await running?.stop()
      await opened?.close()
    })

    beforeEach(() => void (running.records.length = 0))

    const rpcs = () => running.records.filter(({ message }) => message === 'rpc')

    /** Returns when so many statements are at work. */
    const untilBusy = async (statements: number): Promise<void> => {
      let found: readonly { readonly text: string }[] = []
      const isSo = async () => {
        found = await dataSource.query(engine.busy)
        return found.length === statements
      }
      await until(isSo).catch((error: unknown) => {
        throw new TypeError(`at work: ${JSON.stringify(found)}`, { cause: error })
      })
    }

    /** Nothing is at work, nothing was written, and every connection of the pool answers. */
    const expectHealthy = async (code: string): Promise<void> => {
      await untilBusy(0)
      await until(() => rpcs().length > 0)
      expect(rpcs().map(({ fields }) => fields['code'])).to.deep.equal([code])
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, () => client.unary('ListWidgets', {}, ALICE)),
      )
      expect(outcomes.map(({ details }) => details)).to.deep.equal(Array(30).fill('OK'))
      const left = outcomes[0]?.answer?.['widgets'] as readonly { display_name: string }[]
      expect(left.filter(({ display_name: name }) => name === 'slow')).to.deep.equal([])
    }

    it('is stopped when a gRPC client cancels', async () => {
      const { client: nice, close } = niceClient(WidgetService, running.grpc)
      const caller = new AbortController()
      const call = nice.createWidget(
        { widget: { displayName: 'slow' } },
        { metadata: NiceMetadata(ALICE), signal: caller.signal },
      )
      const failed = call.catch((error: Error) => error.name)
      await untilBusy(1)
      caller.abort()
      expect(await failed).to.equal('AbortError')
      await expectHealthy('CANCELLED')
      close()
    })

    it("is stopped at the client's deadline", async () => {
      const { code } = await client.unary('CreateWidget', SLOW, ALICE, { deadline: Date.now() + 300 })
      expect(code).to.equal(4)
      await until(() => rpcs().length > 0)
      // grpc-js ends the call at its deadline by itself, so that whoever is first names the end.
      expect(rpcs()[0]?.fields['code']).to.be.oneOf(['DEADLINE_EXCEEDED', 'CANCELLED'])
      await expectHealthy(rpcs()[0]?.fields['code'] as string)
    })

    it('is stopped when an HTTP client goes away', async () => {
      const left = request(`${running.http}/v1/widgets`, {
        method: 'POST',
        headers: { ...ALICE, 'content-type': 'application/json' },
      })
      left.on('error', () => {})
      left.end(JSON.stringify({ display_name: 'slow' }))
      await untilBusy(1)
      left.destroy()
      await expectHealthy('CANCELLED')
    })

    describe('while the table is locked', () => {
      const withLock = async (work: () => Promise<void>): Promise<void> => {
        const holder = dataSource.createQueryRunner()
        try {
          for (const text of engine.lock) await holder.query(text)
          await work()
        } finally {
          await holder.query(engine.unlock)
          await holder.release()
        }
      }

      it('is stopped at the timeout of the method, and the caller is told', async () => {
        const update = { widget: { id: '1', display_name: 'x' }, update_mask: ['display_name'] }
        await withLock(async () => {
          const { code, details } = await client.unary('UpdateWidget', update, ALICE)
          expect([code, details]).to.deep.equal([4, 'deadline exceeded'])
          await untilBusy(0)
        })
        await expectHealthy('DEADLINE_EXCEEDED')
      })

      it('is stopped when the reader of a stream goes away', async () => {
        const { client: nice, close } = niceClient(EchoService, running.grpc)
        const caller = new AbortController()
        await withLock(async () => {
          const answers = nice.count({}, { metadata: NiceMetadata(ALICE), signal: caller.signal })
          const reader = answers[Symbol.asyncIterator]()
          expect(((await reader.next()).value as { text: string } | undefined)?.text).to.equal('begun')
          const rest = reader.next().catch((error: Error) => error.name)
          await untilBusy(1)
          caller.abort()
          expect(await rest).to.equal('AbortError')
          await untilBusy(0)
        })
        await expectHealthy('CANCELLED')
        close()
      })
    })

    it('leaves no deadline behind that a later call of the same connection would meet', async () => {
      const again = await client.unary('CreateWidget', { widget: { display_name: 'quick' } }, ALICE)
      expect([again.code, again.answer?.['display_name']]).to.deep.equal([0, 'quick'])
      expect(CREATE).to.equal(rpcs()[0]?.fields['method'])
    })
  },
)
