import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../examples/widgets/widget.js'
import { Health } from '../../lib/gen/grpc/health/v1/health_pb.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { executorOf } from '../../lib/persistence/engines/executor-of.js'
import { MemoryRepository } from '../../lib/persistence/memory/memory-repository.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { SqlIdempotencyStore } from '../../lib/server/idempotency/sql-idempotency-store.js'
import { SqlOperationStore } from '../../lib/server/operations/sql-operation-store.js'
import { databases, describeOn, type OpenBackend, pooled } from '../support/databases/backends.js'
import { applyBaseline } from '../support/databases/baseline.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { type Demotion, demotionOf } from '../support/databases/demotion.js'
import { ALICE, post, type RunningServer, startServer } from '../support/servers/server.js'

const MESSAGE = 'the database accepts no writes at the moment: retry later'
const widget = (values: object) => ({ widget: { id: 'w', display_name: 'Anvil', ...values } })

/** Every write of the service, and one of its own whose error nobody has classified. */
const WRITES: readonly (readonly [method: string, request: object])[] = [
  ['CreateWidget', { widget: { display_name: 'New' } }],
  ['UpdateWidget', { ...widget({ size: 2 }), update_mask: ['size'] }],
  ['DeleteWidget', { id: 'w' }],
  ['UndeleteWidget', { id: 'gone' }],
  ['BatchUpdateWidgets', { requests: [{ ...widget({ size: 3 }), update_mask: ['size'] }] }],
  ['BatchDeleteWidgets', { ids: ['w'] }],
  ['RetireWidget', { id: 'w' }],
]

describeOn(
  'a database that takes no writes any more',
  [...databases, ...pooled].filter(({ name }) => name !== 'mariadb' && name !== 'mysql8'),
  (backend) => {
    let opened: OpenBackend
    let demotion: Demotion
    let running: RunningServer
    let client: ForeignClient
    let health: ForeignClient

    before(async () => {
      opened = await backend.open([Widget])
      const dataSource = opened.dataSource as DataSource
      demotion = demotionOf(dataSource)
      await createTables(dataSource, [Widget], opened.database!.dialect.name)
      const retireWidget = () => dataSource.query(`UPDATE widgets SET size = 0 WHERE id = 'w'`)
      const widgets = new TypeormRepository(dataSource, Widget)
      running = await startServer((builder) => builder.register(WidgetService, widgets, { retireWidget }))
      client = new ForeignClient(WidgetService, running.grpc)
      health = new ForeignClient(Health, running.grpc)
      expect((await client.unary('CreateWidget', widget({}), ALICE)).details).to.equal('OK')
      const gone = { widget: { id: 'gone', display_name: 'Gone' } }
      await client.unary('CreateWidget', gone, ALICE)
      await client.unary('DeleteWidget', { id: 'gone' }, ALICE)
    })
    after(async () => {
      client?.close()
      health?.close()
      await running?.stop()
      await opened?.close()
    })
    beforeEach(() => void (running.records.length = 0))
    afterEach(() => demotion.promote())

    const readyz = async () => {
      const answer = await fetch(`${running.http}/readyz`)
      return [answer.status, await answer.text()]
    }
    const serving = async () => (await health.unary('Check', {})).answer?.['status']
    const isReadyAgain = async () => {
      // Sessions that were made before the promotion are given up one by one.
      while ((await readyz())[0] !== 200);
      expect(await serving()).to.equal('SERVING')
    }

    it('is Unavailable to every write, on both listeners, and goes on to be read', async () => {
      await demotion.demote()
      for (const [method, request] of WRITES) {
        const { code, details } = await client.unary(method, request, ALICE)
        expect([method, code, details]).to.deep.equal([method, 14, MESSAGE])
      }
      const answer = await fetch(`${running.http}/v1/widgets`, post(ALICE, { display_name: 'New' }))
      expect([answer.status, await answer.json()]).to.deep.equal([
        503,
        { code: 14, message: MESSAGE, details: [] },
      ])
      expect((await client.unary('GetWidget', { id: 'w' }, ALICE)).answer).to.include({
        display_name: 'Anvil',
      })
      await demotion.promote()
      await isReadyAgain()
    })

    it('makes the server not ready from the first refused write until it takes writes again', async () => {
      expect(await readyz()).to.deep.equal([200, '{"status":"ok"}'])
      await demotion.demote()
      expect((await client.unary('DeleteWidget', { id: 'nothing' }, ALICE)).code).to.equal(14)
      for (let probe = 0; probe < 3; probe++) {
        expect(await readyz()).to.deep.equal([503, '{"status":"unavailable","failing":["database-writes"]}'])
        expect(await serving()).to.equal('NOT_SERVING')
      }
      const told = running.records.filter(({ message }) => message === 'not ready')
      expect(told.map(({ fields }) => fields)).to.deep.equal([
        { check: 'database-writes', err: { name: 'Unavailable', message: MESSAGE } },
      ])
      await demotion.promote()
      await isReadyAgain()
      expect((await client.unary('DeleteWidget', { id: 'nothing' }, ALICE)).code).to.equal(5)
    })

    it('makes a server not ready that keeps idempotency keys and operations alone in it', async () => {
      const dataSource = opened.dataSource as DataSource
      const idempotencyStore = new SqlIdempotencyStore(dataSource)
      const operationStore = new SqlOperationStore(dataSource)
      await applyBaseline(dataSource)
      // On SQLite they make their tables when they are used first.
      await operationStore.find('acme', 'operations/none')
      const key = { tenant: 'acme', subject: '', method: 'm', requestId: 'r' }
      await idempotencyStore.claim(key, 'fingerprint', 1000)
      const memory = await startServer(
        (builder) =>
          builder.register(WidgetService, new MemoryRepository(Widget), { retireWidget: () => ({}) }),
        { idempotencyStore, operationStore },
      )
      const own = new ForeignClient(WidgetService, memory.grpc)
      try {
        const create = () => own.unary('CreateWidget', { widget: {} }, { ...ALICE, 'idempotency-key': 'k1' })
        await demotion.demote()
        expect((await create()).code).to.equal(14)
        expect((await memory.server.readiness()).checks.map(({ name, ok }) => [name, ok])).to.deep.equal([
          ['database-writes', false],
        ])
        await demotion.promote()
        while (!(await memory.server.readiness()).serving);
        expect((await create()).details).to.equal('OK')
      } finally {
        own.close()
        await memory.stop()
      }
    })

    if (backend.name === 'postgres')
      it('gives up every connection that it refuses a write on, so that the next one may lead to the primary', async () => {
        // All that the pool may have: it hands out the last that it got back, which might be another one for
        // ever.
        const database = executorOf(opened.dataSource!)
        const sessions = async () => {
          const leases = await Promise.all(
            Array.from({ length: database.connections }, () => database.lease()),
          )
          for (const lease of leases)
            await lease.run({ name: '', text: 'SET default_transaction_read_only = on' }, [])
          for (const lease of leases) lease.release()
        }
        await sessions()
        const update = async () =>
          (await client.unary('UpdateWidget', { ...widget({ size: 4 }), update_mask: ['size'] }, ALICE)).code
        const codes: unknown[] = []
        // Every session is refused at most once, whichever of them the pool still has.
        while (codes.length < 23) codes.push(await update())
        const refused = codes.findLastIndex((code) => code !== 0) + 1
        expect(refused).to.be.within(1, database.connections)
        expect(codes).to.deep.equal(codes.map((_, call) => (call < refused ? 14 : 0)))
        expect(await readyz()).to.deep.equal([200, '{"status":"ok"}'])
      })
  },
)
