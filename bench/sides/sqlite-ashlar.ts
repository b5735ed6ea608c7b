import { Widget } from '../../examples/widgets/widget.js'
import { RequestContext } from '../../lib/context.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import type { Side } from '../subject.js'
import { LIST, turns, tenantOf, TENANTS, widgetOf, WIDGETS } from './widgets.js'

export async function setUp(): Promise<Side> {
  const dataSource = await new SqliteDataSource({
    database: ':memory:',
    engine: 'sqlite3',
    entities: [Widget],
  }).initialize()
  const widgets = new TypeormRepository(dataSource, Widget)
  const optionsOf = (tenant: string) => ({
    context: new RequestContext({ principal: { tenant, subject: 'bench', groups: [], scopes: [] } }),
  })
  for (let tenant = 0; tenant < TENANTS; tenant++)
    for (let n = 0; n < WIDGETS; n++) await widgets.create(widgetOf(n), optionsOf(tenantOf(tenant)))
  const next = turns()
  return {
    operations: {
      async get() {
        const { tenant, key } = next()
        const widget = await widgets.get(key, optionsOf(tenant))
        if (widget.id !== key || widget.accountId !== tenant) throw new TypeError(`wrong widget for ${key}`)
      },
      async list() {
        const { tenant } = next()
        const { items, nextPageToken } = await widgets.list(LIST, optionsOf(tenant))
        if (items.length !== LIST.pageSize || nextPageToken === '')
          throw new TypeError(`${items.length} widgets`)
      },
    },
    tearDown: () => dataSource.destroy(),
  }
}
