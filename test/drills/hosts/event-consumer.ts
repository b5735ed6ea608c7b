import { DataSource } from 'typeorm'
import { consumer } from '../../../lib/events/consumer/consumer.js'

/**
 * Writes down the numbers of counters, in the order in which it hears of them. Arguments: the engine, its
 * URL, and the stream.
 */
const [engine, url, servers = '', stream = ''] = process.argv.slice(2)

interface Change {
  readonly resource: { readonly id: string; readonly number?: number }
}

const dataSource = new DataSource({ type: engine as 'postgres', url: url ?? '', entities: [] })
await dataSource.initialize()
consumer<Change>(
  {
    ...{ name: 'effects', dataSource, leaseMs: 1000, concurrency: 16, maxAttempts: 1000 },
    nats: { servers, stream, prefix: stream },
  },
  async ({ data: { resource } }, { sql }) => {
    await sql`INSERT INTO effects (counter_id, number) VALUES (${resource.id}, ${resource.number ?? 0})`
  },
).start()
