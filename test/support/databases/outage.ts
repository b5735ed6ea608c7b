import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Client } from 'pg'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { serviceUrl } from '../running/services.js'

/** Takes a database away from a DataSource, and gives it back. */
export interface Outage {
  /** The one that is cut off. */
  readonly dataSource: DataSource
  begin(): Promise<void>
  end(): Promise<void>
  close(): Promise<void>
}

/** An outage of a test's own database: PostgreSQL refuses connections to it; of MySQL, the way there is cut. */
export const outageOf = (dataSource: DataSource): Promise<Outage> =>
  dataSource.options.type === 'postgres' ? onPostgres(dataSource) : onMysql(dataSource)

async function onPostgres(dataSource: DataSource): Promise<Outage> {
  const [row]: { name: string }[] = await dataSource.query('SELECT current_database() AS name')
  const name = row?.name ?? ''
  const change = async (isAllowed: boolean) => {
    const admin = new Client(serviceUrl('postgres'))
    await admin.connect()
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isAllowed}`)
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
    await admin.end()
  }
  return {
    dataSource,
    begin: () => change(false),
    end: () => change(true),
    close: () => Promise.resolve(),
  }
}

const MYSQL_PORT = 3306

async function onMysql(direct: DataSource): Promise<Outage> {
  const options = direct.options as DataSourceOptions & { readonly url: string }
  const url = new URL(options.url)
  const sockets = new Set<Socket>()
  let isDown = false
  const server = createServer((client) => {
    client.on('error', () => {})
    if (isDown) return void client.destroy()
    const upstream = connect(Number(url.port || MYSQL_PORT), url.hostname)
    upstream.on('error', () => {})
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = String((server.address() as AddressInfo).port)
  const through = Object.assign(new URL(url), { hostname: '127.0.0.1', port })
  const dataSource = await new DataSource({ ...options, url: through.href } as DataSourceOptions).initialize()
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    dataSource,
    begin: async () => {
      isDown = true
      cut()
    },
    end: async () => void (isDown = false),
    close: async () => {
      await dataSource.destroy().catch(() => {})
      cut()
      server.close()
    },
  }
}
