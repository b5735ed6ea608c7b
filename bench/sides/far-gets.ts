import { DataSource } from 'typeorm'
import { Widget } from '../../examples/widgets/widget.js'
import { RequestContext } from '../../lib/context.js'
import type { Coalesce } from '../../lib/persistence/coalescing/coalesce.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { startServer } from '../load/server-process.js'
import type { Side } from '../subject.js'
import { benchUrl, POOL } from './postgres-address.js'
import { fill, randomRow } from './postgres-data.js'

/** Reads by key from a database with 2 ms of latency. `?merge=` selects the calls that share a statement. */
export async function setUp(): Promise<Side> {
  await fill()
  const proxy = await startServer(new URL('../load/delaying-proxy.js', import.meta.url))
  const url = Object.assign(new URL(benchUrl()), { host: `127.0.0.1:${proxy.ports.postgres}` }).href
  const dataSource = await new DataSource({
    type: 'postgres',
    url,
    entities: [Widget],
    poolSize: POOL,
  }).initialize()
  const merge = new URL(import.meta.url).searchParams.get('merge') as Coalesce
  const widgets = new TypeormRepository(dataSource, Widget, { coalesce: merge })
  return {
    operations: {
      async get() {
        const { tenant, key } = randomRow()
        const principal = { tenant, subject: 'bench', groups: [], scopes: [] }
        const { id } = await widgets.get(key, { context: new RequestContext({ principal }) })
        if (id !== key) throw new TypeError(key)
      },
    },
    async tearDown() {
      await dataSource.destroy()
      await proxy.end()
    },
  }
}
