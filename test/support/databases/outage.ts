import { Client } from 'pg'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { serviceUrl } from '../running/services.js'
import { TcpProxy } from '../running/tcp-proxy.js'

/** Disconnects a database from a DataSource, and reconnects it. */
export interface Outage {
  /** The DataSource that is disconnected. */
  readonly dataSource: DataSource
  begin(): Promise<void>
  end(): Promise<void>
  close(): Promise<void>
}

/**
 * Returns an outage of a test's own database. PostgreSQL rejects connections; the network to MySQL is
 * interrupted.
 */
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
  const proxy = await TcpProxy.before(options.url, MYSQL_PORT)
  const dataSource = await new DataSource({ ...options, url: proxy.url } as DataSourceOptions).initialize()
  return {
    dataSource,
    begin: async () => proxy.refuse(),
    end: async () => proxy.open(),
    close: async () => {
      await dataSource.destroy().catch(() => {})
      await proxy.close()
    },
  }
}
