import { expect } from 'chai'
import { createClient } from 'redis'
import { Widget } from '../../../examples/widgets/widget.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { RedisIdempotencyStore } from '../../../lib/server/idempotency/redis-idempotency-store.js'
import { drilling } from '../../support/drill.js'
import { ownServer, type StartedService } from '../../support/running/start-services.js'
import { ServedWrites } from './served-writes.js'

const LASTS_MS = 6_000

describe('writes with an idempotency key that Redis keeps', () => {
  let redis: StartedService
  let client: ReturnType<typeof createClient>
  let served: ServedWrites

  before(async function () {
    if (!drilling) return this.skip()
    redis = await ownServer('redis', this)
    client = createClient({ url: redis.url })
    client.on('error', () => {})
    await client.connect()
    const dataSource = await new SqliteDataSource({ database: ':memory:', entities: [Widget] }).initialize()
    await createTables(dataSource, [Widget], 'sqlite')
    served = await ServedWrites.on(dataSource, dataSource, {
      config: { idempotencyStore: new RedisIdempotencyStore(client) },
      headers: (name) => ({ 'idempotency-key': name }),
    })
  })
  after(async () => {
    await served?.end()
    client?.destroy()
    await redis?.stop()
  })

  for (const [what, begin, end] of [
    ['stopped', () => redis.kill(), () => redis.restart()],
    ['frozen', async () => redis.freeze(), async () => redis.thaw()],
  ] as const)
    it(`are noticed to fail where it is ${what}, come back, and none is lost`, async () => {
      let without = 0
      const { slowestMs } = await served.traffic.through(
        {
          begin,
          end: async () => {
            without = (await served.write(`without a key, ${what}`)).status
            await end()
          },
        },
        LASTS_MS,
      )
      expect(without).to.equal(200)
      // A refused call waits for nothing; the first ones may wait for a Redis that is frozen.
      if (what === 'stopped') expect(slowestMs).to.be.below(1_000)
    })
})
