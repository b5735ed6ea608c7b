import { IsNull, MoreThanOrEqual } from 'typeorm'
import { Widget } from '../../examples/widgets/widget.js'
import { RequestContext } from '../../lib/context.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import type { Side } from '../subject.js'
import { LIST, tenantOf, TENANTS, turns, widgetOf, WIDGETS } from './widgets.js'

/** TypeORM's own repository on the same engine, because TypeORM no longer has a `sqlite3` driver. */
export async function setUp(): Promise<Side> {
  const dataSource = await new SqliteDataSource({
    database: ':memory:',
    engine: 'sqlite3',
    entities: [Widget],
  }).initialize()
  const filler = new TypeormRepository(dataSource, Widget)
  for (let tenant = 0; tenant < TENANTS; tenant++) {
    const principal = { tenant: tenantOf(tenant), subject: 'bench', groups: [], scopes: [] }
    for (let n = 0; n < WIDGETS; n++)
      await filler.create(widgetOf(n), { context: new RequestContext({ principal }) })
  }
  const widgets = dataSource.getRepository(Widget)
  const live = { deleteTime: IsNull() }
  const next = turns()
  return {
    operations: {
      async get() {
        const { tenant, key } = next()
        const widget = await widgets.findOne({ where: { accountId: tenant, id: key, ...live } })
        if (widget?.id !== key || widget.accountId !== tenant) throw new TypeError(`wrong widget for ${key}`)
      },
      async list() {
        const { tenant } = next()
        const found = await widgets.find({
          where: { accountId: tenant, size: MoreThanOrEqual(200), state: 'ACTIVE' as never, ...live },
          order: { displayName: 'DESC', id: 'DESC' },
          take: LIST.pageSize + 1,
        })
        if (found.length !== LIST.pageSize + 1) throw new TypeError(`${found.length} widgets`)
      },
    },
    tearDown: () => dataSource.destroy(),
  }
}
