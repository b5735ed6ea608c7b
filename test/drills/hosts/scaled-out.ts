import { RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import { DataSource } from 'typeorm'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { devPrincipal } from '../../../lib/server/authn/dev-principal.js'
import { RedisIdempotencyStore } from '../../../lib/server/idempotency/redis-idempotency-store.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { ALL } from '../../support/servers/server.js'
import { jsonLogger } from '../../../lib/server/observability/logger.js'

/**
 * A server process of scaled-out.test.ts: says where it listens, and returns its CPU time in microseconds
 * when asked.
 */
const [, , url = '', redisUrl = '', poolSize = '', limited = '', points = ''] = process.argv
const dataSource = new DataSource({ type: 'postgres', url, entities: [Widget], poolSize: Number(poolSize) })
await dataSource.initialize()
const redis = createClient({ url: redisUrl })
await redis.connect()

const limit = (keyPrefix: string, most: number) =>
  new RateLimiterRedis({ storeClient: redis, useRedisPackage: true, keyPrefix, points: most, duration: 600 })
const few = limit(limited, Number(points))
const many = limit(`${limited}-others`, 2 ** 31)

const server = new ServerBuilder({
  grpcAddr: '127.0.0.1:0',
  authorizer: devAuthorizer([ALL]),
  principalFunc: devPrincipal,
  allowDevelopment: true,
  logger: jsonLogger('error'),
  idempotencyStore: new RedisIdempotencyStore(redis),
  resilience: {
    rateLimiter: { consume: (key) => (key === `tenant:${limited}` ? few : many).consume(key) },
  },
})
  .register(WidgetService, new TypeormRepository(dataSource, Widget), {
    retireWidget: () => {
      throw new TypeError('not part of this test')
    },
  })
  .build()

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuUs: user + system })
})
const served = server.serve(new AbortController().signal)
await Promise.race([server.ready(), served])
process.send?.({ address: server.grpcAddr() })
await served
