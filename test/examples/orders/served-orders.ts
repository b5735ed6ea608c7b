import type { DescService } from '@bufbuild/protobuf'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createChannel, createClient, Metadata } from 'nice-grpc'
import type { DataSource } from 'typeorm'
import { ordersDataSource } from '../../../examples/orders/data-source.js'
import type { Mail } from '../../../examples/orders/mail.js'
import { orderServer } from '../../../examples/orders/main.js'
import { migrate } from '../../../lib/migrations/index.js'
import { type Definition, definitionOf } from '../../../lib/server/index.js'
import { type BackendName, databases } from '../../support/databases/backends.js'
import { testDatabase } from '../../support/databases/test-database.js'
import { root } from '../../support/root.js'
import { recordingLogger } from '../../support/servers/server.js'

/** The databases that the example is for. */
export const ORDER_BACKENDS = databases.filter(({ name }) =>
  (['sqlite', 'postgres', 'mariadb'] as readonly BackendName[]).includes(name),
)
export const MIGRATIONS = join(root, 'examples/orders/migrations')

export interface Caller {
  readonly tenant: string
  readonly subject: string
  readonly groups: readonly string[]
}

export interface ServedOrders {
  readonly dataSource: DataSource
  readonly url: string
  /** What was sent, in order. */
  readonly mails: readonly Mail[]
  client<S extends DescService>(service: S, caller: Caller): Client<Definition<S>>
  fetch(caller: Caller, path: string, init?: RequestInit): Promise<Response>
  stop(): Promise<void>
}

/** The example as it is deployed: tables by its migrations, and calls through its listeners. */
export async function serveOrders(backend: BackendName): Promise<ServedOrders> {
  const database = await databaseOf(backend)
  const dataSource = ordersDataSource(database.url)
  const mails: Mail[] = []
  const server = await orderServer({
    database: dataSource,
    grpcAddr: '127.0.0.1:0',
    httpAddr: '127.0.0.1:0',
    logger: recordingLogger(),
    mail: (mail) => void mails.push(mail),
  })
  const stop = new AbortController()
  const served = server.serve(stop.signal)
  await Promise.race([server.ready(), served])
  const channel = createChannel(server.grpcAddr())
  const url = `http://${server.httpAddr()}`
  return {
    dataSource,
    url,
    mails,
    client: (service, caller) => {
      const metadata = Metadata(headersOf(caller))
      return createClient(definitionOf(service), channel, { '*': { metadata } })
    },
    fetch: (caller, path, init = {}) =>
      fetch(url + path, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), ...headersOf(caller) },
      }),
    stop: async () => {
      channel.close()
      stop.abort()
      await served
      await dataSource.destroy()
      await database.drop()
    },
  }
}

const headersOf = ({ tenant, subject, groups }: Caller) => ({
  'account-id': tenant,
  subject,
  groups: groups.join(','),
})

async function databaseOf(backend: BackendName): Promise<{ url: string; drop(): Promise<void> }> {
  if (backend === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-orders-'))
    const drop = () => Promise.resolve(rmSync(folder, { recursive: true, force: true }))
    return { url: join(folder, 'orders.db'), drop }
  }
  const database = await testDatabase(backend === 'postgres' ? 'postgres' : 'mysql')
  await migrate({ url: database.url, files: MIGRATIONS }).up()
  return database
}
