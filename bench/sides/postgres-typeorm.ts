import { randomUUID } from 'node:crypto'
import { DataSource, In, IsNull, MoreThanOrEqual } from 'typeorm'
import { Widget } from '../../examples/widgets/widget.js'
import type { Side } from '../subject.js'
import { benchUrl, POOL } from './postgres-address.js'
import { fill, fillOwn, ownBatch, ownTenant, randomKeys, randomRow, tenantOf } from './postgres-data.js'

/** The same operations through TypeORM's own repository. */
export async function setUp(): Promise<Side> {
  await fill()
  const dataSource = await new DataSource({
    type: 'postgres',
    url: benchUrl(),
    entities: [Widget],
    poolSize: POOL,
  }).initialize()
  const widgets = dataSource.getRepository(Widget)
  const mine = ownTenant('typeorm')
  const live = { deleteTime: IsNull() }
  const save = (id: string, displayName: string, size: number) => {
    const now = new Date()
    const fields = {
      id,
      displayName,
      description: 'A new red widget',
      size,
      price: 9.5,
      state: 'ACTIVE' as never,
      tags: { env: 'prod', team: 't1' },
    }
    return widgets.save(
      widgets.create({ ...fields, createTime: now, updateTime: now, etag: randomUUID(), accountId: mine }),
    )
  }
  const own = await fillOwn(mine)
  let n = 0
  const turn = () => n++
  const updateOne = async (repository: typeof widgets, id: string, displayName: string) => {
    const widget = await repository.findOneOrFail({ where: { accountId: mine, id, ...live } })
    await repository.save(Object.assign(widget, { displayName, updateTime: new Date(), etag: randomUUID() }))
  }
  return {
    operations: {
      async get() {
        const { tenant, key } = randomRow()
        if ((await widgets.findOne({ where: { accountId: tenant, id: key, ...live } }))?.id !== key)
          throw new TypeError(key)
      },
      async list() {
        const where = {
          accountId: tenantOf(turn()),
          ...live,
          state: 'ACTIVE' as never,
          size: MoreThanOrEqual(100),
        }
        if ((await widgets.find({ where, order: { createTime: 'ASC', id: 'ASC' }, take: 51 })).length !== 51)
          throw new TypeError('list')
      },
      async 'page 1'() {
        const where = { accountId: tenantOf(turn() % 10), ...live }
        const order = { createTime: 'ASC', id: 'ASC' } as const
        if ((await widgets.find({ where, order, take: 51 })).length !== 51) throw new TypeError('page')
      },
      async 'page 181'() {
        const where = { accountId: tenantOf(turn() % 10), ...live }
        if (
          (await widgets.find({ where, order: { createTime: 'ASC', id: 'ASC' }, take: 51, skip: 9000 }))
            .length !== 51
        )
          throw new TypeError('page')
      },
      async create() {
        if ((await save(randomUUID(), 'new widget', 7)).displayName !== 'new widget')
          throw new TypeError('create')
      },
      update: () => updateOne(widgets, own[turn() % own.length]?.id ?? '', 'renamed'),
      async 'batchGet 100'() {
        const { tenant, keys } = randomKeys(100)
        const found = await widgets.find({ where: { accountId: tenant, id: In(keys), ...live } })
        const byKey = new Map(found.map((row) => [row.id, row]))
        if (keys.map((key) => byKey.get(key)).some((row) => row === undefined))
          throw new TypeError('batchGet')
      },
      async 'batchUpdate 1000'() {
        const batch = ownBatch(own, turn())
        await dataSource.transaction(async (manager) => {
          for (const { id } of batch) await updateOne(manager.getRepository(Widget), id, 'batched')
        })
      },
    },
    async tearDown() {
      await dataSource.query('DELETE FROM widgets WHERE account_id = $1', [mine])
      await dataSource.destroy()
    },
  }
}
