import type { DataSource } from 'typeorm'
import { Client } from 'pg'
import { serviceUrl } from '../running/services.js'

/** Makes a database reject writes, and accept them again. */
export interface Demotion {
  demote(): Promise<void>
  promote(): Promise<void>
}

/**
 * Returns the demotion of a test's own database, as sessions of a DataSource on PostgreSQL or SQLite
 * experience it.
 */
export const demotionOf = (dataSource: DataSource): Demotion =>
  dataSource.options.type === 'postgres' ? onPostgres(dataSource) : onSqlite(dataSource)

/** Ends the sessions and makes new ones read-only. Resolves when the pool has noticed. */
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

/** The default pool size. */
const MAX = 10

const onSqlite = (dataSource: DataSource): Demotion => ({
  demote: async () => void (await dataSource.query('PRAGMA query_only = 1')),
  promote: async () => void (await dataSource.query('PRAGMA query_only = 0')),
})
