import { createClient } from 'redis'
import { DataSource } from 'typeorm'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { devPrincipal } from '../../../lib/server/authn/dev-principal.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { RedisIdempotencyStore } from '../../../lib/server/idempotency/redis-idempotency-store.js'
import { SqlIdempotencyStore } from '../../../lib/server/idempotency/sql-idempotency-store.js'
import { ALL, recordingLogger } from '../../support/servers/server.js'

/**
 * A server process of processes/idempotency.test.ts; says where it listens, and when a slow create has begun.
 */
const [, , kind = '', url = '', redisUrl = ''] = process.argv
const dataSource = new DataSource({ type: 'postgres', url, entities: [Widget], poolSize: 5 })
await dataSource.initialize()
const redis = createClient({ url: redisUrl })
if (kind === 'redis') await redis.connect()
const widgets = new TypeormRepository(dataSource, Widget)

const server = new ServerBuilder({
  grpcAddr: '127.0.0.1:0',
  authorizer: devAuthorizer([ALL]),
  principalFunc: devPrincipal,
  allowDevelopment: true,
  logger: recordingLogger(),
  idempotencyStore: kind === 'redis' ? new RedisIdempotencyStore(redis) : new SqlIdempotencyStore(dataSource),
})
  .register(WidgetService, widgets, {
    createWidget: async ({ widget }) => {
      const made = await widgets.create({
        displayName: widget?.displayName ?? '',
        description: '',
        size: 0,
        price: 0,
        state: 0,
        tags: {},
      })
      if (widget?.displayName === 'slow' && !(await hasBegunBefore())) await new Promise<never>(() => {})
      return widgets.model.toMessage(made)
    },
    retireWidget: () => {
      throw new TypeError('not part of this test')
    },
  })
  .build()

/**
 * The first process to come here says so and never goes on; without a transaction its row must not stay
 * either.
 */
async function hasBegunBefore(): Promise<boolean> {
  await dataSource.query('CREATE TABLE IF NOT EXISTS begun (one integer PRIMARY KEY)')
  const rows: unknown[] = await dataSource.query(
    'INSERT INTO begun VALUES (1) ON CONFLICT DO NOTHING RETURNING one',
  )
  if (rows.length === 0) return true
  if (kind === 'redis') await dataSource.query(`DELETE FROM widgets WHERE display_name = 'slow'`)
  process.send?.('begun')
  return false
}

const served = server.serve(new AbortController().signal)
await Promise.race([server.ready(), served])
process.send?.(server.grpcAddr())
await served
