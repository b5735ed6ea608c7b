import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import type { DataSource } from 'typeorm'
import { WidgetService } from '../../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../../examples/widgets/widget.js'
import { TypeormRepository } from '../../../../lib/persistence/sql/typeorm-repository.js'
import { type RunningServer, startServer } from '../../../support/servers/server.js'
import { sendTo, type Spread } from '../../../support/databases/citus/cluster.js'
import { describeDistributed, withTables } from './distributed.js'

/** What the coordinator answers with, where only the list of extensions has Citus. */
const ANSWERS = [
  `CREATE TABLE workers (name text, port bigint, state text)`,
  `INSERT INTO workers VALUES ('w1', 5432, 'up'), ('w2', 5433, 'up')`,
  `CREATE FUNCTION citus_get_active_worker_nodes(OUT node_name text, OUT node_port bigint) RETURNS SETOF record
   LANGUAGE sql AS 'SELECT name, port FROM workers'`,
  `CREATE FUNCTION citus_check_connection_to_node(nodename text, nodeport int) RETURNS bool LANGUAGE sql AS
   $$ SELECT state = 'up' FROM workers, LATERAL (SELECT pg_sleep(CASE state WHEN 'silent' THEN 30 ELSE 0 END)) s
      WHERE name = $1 AND port = $2 $$`,
]

describeDistributed('readiness while workers do not answer', (open, isCluster) => {
  let server: Spread
  let dataSource: DataSource
  let running: RunningServer
  let worker: string

  before(async () => {
    server = await open()
    if (!isCluster) await sendTo(server.url, ...ANSWERS)
    ;({ dataSource } = await withTables(server, [Widget]))
    const widgets = new TypeormRepository(dataSource, Widget)
    running = await startServer((builder) =>
      builder.register(WidgetService, widgets, { retireWidget: () => ({}) as never }),
    )
    const [first] = isCluster
      ? await sendTo(server.url, 'SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY 2')
      : [['w1', 5432]]
    worker = (first ?? []).map(String).join(':')
  })
  after(async () => {
    await running?.stop()
    await dataSource?.destroy()
    await server?.drop()
  })

  const port = () => worker.split(':')[1]
  const stopped = (state: string) =>
    isCluster
      ? `UPDATE pg_dist_node SET nodeport = 1 WHERE nodeport = ${port()}`
      : `UPDATE workers SET state = '${state}' WHERE port = ${port()}`
  const started = () =>
    isCluster
      ? `UPDATE pg_dist_node SET nodeport = ${port()} WHERE nodeport = 1`
      : `UPDATE workers SET state = 'up'`

  /** Probes until the body is this one. No probe fails or waits for the workers. */
  const probed = async (body: object) => {
    for (;;) {
      const began = performance.now()
      const response = await fetch(`${running.http}/readyz`)
      expect(response.status).to.equal(200)
      const found: unknown = await response.json()
      expect(performance.now() - began).to.be.lessThan(900)
      if (JSON.stringify(found) === JSON.stringify(body)) return
      await pause(100)
    }
  }
  const lines = () =>
    running.records
      .filter(({ message }) => message.includes('workers'))
      .map(({ level, fields }) => [level, fields['workers']])

  for (const state of isCluster ? ['down'] : ['down', 'silent'])
    it(`counts a worker that is ${state}, and logs its name once`, async () => {
      running.records.length = 0
      await probed({ status: 'ok' })
      await sendTo(server.url, stopped(state))
      await probed({ status: 'ok', unreachable_workers: 1 })
      for (let probe = 0; probe < 5; probe++) await probed({ status: 'ok', unreachable_workers: 1 })
      const name = isCluster ? worker.replace(/:.*/, ':1') : worker
      expect(lines()).to.deep.equal([['warn', [name]]])
      await sendTo(server.url, started())
      await probed({ status: 'ok' })
      expect(lines()).to.deep.equal([
        ['warn', [name]],
        ['info', undefined],
      ])
    }).timeout(30_000)
})
