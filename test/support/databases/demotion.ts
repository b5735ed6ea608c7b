import type { DataSource } from 'typeorm'
import { Client } from 'pg'
import { serviceUrl } from '../running/services.js'

/** Makes a database take no writes, and take them again. */
export interface Demotion {
  demote(): Promise<void>
  promote(): Promise<void>
}

/**
 * What a demotion of a test's own database looks like to the sessions of a DataSource on PostgreSQL or
 * SQLite.
 */
export const demotionOf = (dataSource: DataSource): Demotion =>
  dataSource.options.type === 'postgres' ? onPostgres(dataSource) : onSqlite(dataSource)

/** Sessions end, and those that begin afterwards are read-only. Resolves when the pool has noticed. */
function onPostgres(dataSource: DataSource): Demotion {
  const inPool = () => Promise.all(Array.from({ length: MAX }, () => dataSource.query('SELECT 1')))
  const change = async (setting: string) => {
    const [row]: { name: string }[] = await dataSource.query('SELECT current_database() AS name')
    const name = row?.name ?? ''
    const admin = new Client(serviceUrl('postgres'))
    await admin.connect()
    await admin.query(`ALTER DATABASE ${name} ${setting}`)
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
    await admin.end()
    const isOver = () =>
      inPool().then(
        () => true,
        () => false,
      )
    while (!(await isOver()));
  }
  return {
    demote: () => change('SET default_transaction_read_only = on'),
    promote: () => change('RESET default_transaction_read_only'),
  }
}

/** As many connections as a pool has unless it is told. */
const MAX = 10

const onSqlite = (dataSource: DataSource): Demotion => ({
  demote: async () => void (await dataSource.query('PRAGMA query_only = 1')),
  promote: async () => void (await dataSource.query('PRAGMA query_only = 0')),
})
