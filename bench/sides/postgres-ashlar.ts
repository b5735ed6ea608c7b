import { DataSource } from 'typeorm'
import { Widget } from '../../examples/widgets/widget.js'
import { RequestContext } from '../../lib/context.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import type { Side } from '../subject.js'
import { benchUrl, POOL } from './postgres-address.js'
import {
  fill,
  fillOwn,
  ownBatch,
  type OwnRow,
  ownTenant,
  randomKeys,
  randomRow,
  tenantOf,
} from './postgres-data.js'

export async function setUp(): Promise<Side> {
  await fill()
  const dataSource = await new DataSource({
    type: 'postgres',
    url: benchUrl(),
    entities: [Widget],
    poolSize: POOL,
  }).initialize()
  const widgets = new TypeormRepository(dataSource, Widget)
  const as = (tenant: string) => ({
    context: new RequestContext({ principal: { tenant, subject: 'bench', groups: [], scopes: [] } }),
  })
  const mine = as(ownTenant('ashlar'))
  const own = await fillOwn(ownTenant('ashlar'))
  const deep = await deepTokens(widgets)
  let n = 0
  const turn = () => n++
  return {
    operations: {
      async get() {
        const { tenant, key } = randomRow()
        if ((await widgets.get(key, as(tenant))).id !== key) throw new TypeError(key)
      },
      async list() {
        const page = await widgets.list(
          { filter: 'state = ACTIVE AND size >= 100', orderBy: 'create_time' },
          as(tenantOf(turn())),
        )
        if (page.items.length !== 50) throw new TypeError('list')
      },
      async 'page 1'() {
        const { tenant } = deep[turn() % deep.length] ?? { tenant: '' }
        if ((await widgets.list({ orderBy: 'create_time' }, as(tenant))).items.length !== 50)
          throw new TypeError('page')
      },
      async 'page 181'() {
        const { tenant, token } = deep[turn() % deep.length] ?? { tenant: '', token: '' }
        if (
          (await widgets.list({ orderBy: 'create_time', pageToken: token }, as(tenant))).items.length !== 50
        )
          throw new TypeError('page')
      },
      async create() {
        const created = await widgets.create(
          {
            displayName: 'new widget',
            description: 'A new red widget',
            size: 7,
            price: 9.5,
            state: 2,
            tags: { env: 'prod', team: 't1' },
          },
          mine,
        )
        if (created.displayName !== 'new widget') throw new TypeError('create')
      },
      async update() {
        const row = own[turn() % own.length] as OwnRow
        row.etag = (
          await widgets.update(row.id, { displayName: 'renamed' }, ['display_name'], {
            ...mine,
            ifMatch: row.etag,
          })
        ).etag
      },
      async 'batchGet 100'() {
        const { tenant, keys } = randomKeys(100)
        if ((await widgets.batchGet(keys, as(tenant))).length !== 100) throw new TypeError('batchGet')
      },
      async 'batchUpdate 1000'() {
        const batch = ownBatch(own, turn())
        const entity = { displayName: 'batched' }
        const items = batch.map(({ id }) => ({ key: id, entity, fieldMask: ['display_name'] }))
        for (const [i, { etag }] of (await widgets.batchUpdate(items, mine)).entries())
          Object.assign(batch[i] ?? {}, { etag })
      },
    },
    async tearDown() {
      await dataSource.query('DELETE FROM widgets WHERE account_id = $1', [ownTenant('ashlar')])
      await dataSource.destroy()
    },
  }
}

/** Returns the tokens of the page at row 9,000, for some tenants. */
async function deepTokens(widgets: TypeormRepository<Widget>): Promise<{ tenant: string; token: string }[]> {
  return Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      const tenant = tenantOf(i)
      const context = new RequestContext({ principal: { tenant, subject: 'bench', groups: [], scopes: [] } })
      let token = ''
      for (let page = 0; page < 9; page++)
        token = (
          await widgets.list({ orderBy: 'create_time', pageSize: 1000, pageToken: token }, { context })
        ).nextPageToken
      return { tenant, token }
    }),
  )
}
