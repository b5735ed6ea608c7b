import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../examples/widgets/widget.js'
import { Health } from '../../lib/gen/grpc/health/v1/health_pb.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { databases, describeOn, type OpenBackend } from '../support/databases/backends.js'
import { demotionOf } from '../support/databases/demotion.js'
import { type Outage, outageOf } from '../support/databases/outage.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { ALICE, type RunningServer, startServer } from '../support/servers/server.js'

describeOn(
  'a database that cannot be reached',
  databases.filter(({ name }) => name === 'postgres' || name === 'mariadb'),
  (backend) => {
    let opened: OpenBackend
    let outage: Outage
    let running: RunningServer
    let client: ForeignClient
    let health: ForeignClient

    before(async () => {
      opened = await backend.open([Widget])
      const direct = opened.dataSource as DataSource
      await createTables(direct, [Widget], opened.database!.dialect.name)
      outage = await outageOf(direct)
      const widgets = new TypeormRepository(outage.dataSource, Widget)
      running = await startServer((builder) =>
        builder.register(WidgetService, widgets, { retireWidget: () => ({}) }),
      )
      client = new ForeignClient(WidgetService, running.grpc)
      health = new ForeignClient(Health, running.grpc)
    })
    after(async () => {
      await outage?.end()
      client?.close()
      health?.close()
      await running?.stop()
      await outage?.close()
      await opened?.close()
    })

    const readyz = async () => {
      const response = await fetch(`${running.http}/readyz`)
      return [response.status, await response.text()]
    }
    const serving = async () => (await health.unary('Check', {})).answer?.['status']
    const codeOf = async (method: string, request: object) =>
      status[(await client.unary(method, request, ALICE)).code]

    for (const [method, request, code] of [
      ['ListWidgets', {}, 'OK'],
      ['DeleteWidget', { id: 'none' }, 'NOT_FOUND'],
    ] as const)
      it(`makes the server not ready from the first ${method} that fails until it responds again`, async () => {
        expect(await codeOf(method, request)).to.equal(code)
        expect(await readyz()).to.deep.equal([200, '{"status":"ok"}'])
        await outage.begin()
        expect(await codeOf(method, request)).to.equal('UNAVAILABLE')
        for (let probe = 0; probe < 3; probe++) {
          expect(await readyz()).to.deep.equal([
            503,
            '{"status":"unavailable","failing":["database-writes"]}',
          ])
          expect(await serving()).to.equal('NOT_SERVING')
        }
        await outage.end()
        while ((await readyz())[0] !== 200);
        expect(await serving()).to.equal('SERVING')
        expect(await codeOf(method, request)).to.equal(code)
      })

    if (backend.name === 'postgres')
      it('makes a server ready again that only reads from a replica', async () => {
        const demotion = demotionOf(outage.dataSource)
        await demotion.demote()
        try {
          await outage.begin()
          expect(await codeOf('ListWidgets', {})).to.equal('UNAVAILABLE')
          expect((await readyz())[0]).to.equal(503)
          await outage.end()
          while ((await readyz())[0] !== 200);
          expect(await codeOf('ListWidgets', {})).to.equal('OK')
        } finally {
          await demotion.promote()
        }
      })
  },
)
