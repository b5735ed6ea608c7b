import { setTimeout as pause } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import { serviceUrl } from '../../support/running/services.js'
import { PasswordProxy } from './password-proxy.js'

export type Engine = 'postgres' | 'mysql'

/** A database of a test's own, with users that come and go. */
export interface HotServer {
  readonly engine: Engine
  /** Makes a user who may use the database. @returns the DSN with the password. */
  user(name: string, password: string): Promise<string>
  /** The user may not open another session, as after a change of the password; open ones stay. */
  lockOut(name: string): Promise<void>
  /** Open sessions of a user of this test, or of them all. */
  sessions(name?: string): Promise<number>
  /** Waits until there are none: MariaDB lists one for a moment after it has closed the socket. */
  gone(name?: string): Promise<void>
  rows(sql: string): Promise<readonly Record<string, unknown>[]>
  drop(): Promise<void>
}

let made = 0

/**
 * Undefined where the run does without the server; the runner has named it then.
 * @param checksPasswords - PostgreSQL checks none where it trusts whoever comes from its own host; a proxy in
 * front of it does.
 */
export async function hotServer(
  engine: Engine,
  { checksPasswords = false } = {},
): Promise<HotServer | undefined> {
  const address = serviceUrl(engine)
  if (address === undefined) return undefined
  const prefix = `ashlar_dsn_${process.pid}_${++made}`
  if (engine === 'mysql') return onMysql(address, prefix)
  return onPostgres(address, prefix, checksPasswords ? await PasswordProxy.before(address) : undefined)
}

async function none(count: () => Promise<number>): Promise<void> {
  while ((await count()) > 0) await pause(10)
}

const dsnOf = (address: string, user: string, password: string, database: string): string => {
  const url = new URL(address)
  url.username = user
  url.password = password
  url.pathname = `/${database}`
  return url.href
}

async function onPostgres(
  address: string,
  prefix: string,
  proxy: PasswordProxy | undefined,
): Promise<HotServer> {
  const admin = new Client(address)
  await admin.connect()
  await admin.query(`CREATE DATABASE ${prefix}`)
  const inside = new Client(dsnOf(address, 'postgres', '', prefix))
  await inside.connect()
  const users = new Set<string>()
  const rows = async (sql: string) => (await inside.query<Record<string, unknown>>(sql)).rows
  const sessions = async (name = '%') => {
    const { rows: found } = await admin.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename LIKE $1',
      [`${prefix}_${name}`],
    )
    return found[0]!.count
  }
  return {
    engine: 'postgres',
    rows,
    user: async (name, password) => {
      const role = `${prefix}_${name}`
      users.add(role)
      await admin.query(`DO $$ BEGIN CREATE ROLE ${role}; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
      await admin.query(`ALTER ROLE ${role} LOGIN PASSWORD '${password}'`)
      proxy?.passwords.set(role, password)
      return dsnOf(proxy?.address ?? address, role, password, prefix)
    },
    lockOut: async (name) => {
      proxy?.passwords.set(`${prefix}_${name}`, 'changed')
      await admin.query(`ALTER ROLE ${prefix}_${name} NOLOGIN PASSWORD 'changed'`)
    },
    sessions,
    gone: (name) => none(() => sessions(name)),
    drop: async () => {
      await inside.end()
      await proxy?.close()
      await admin.query(`DROP DATABASE ${prefix} WITH (FORCE)`)
      for (const role of users) await admin.query(`DROP ROLE ${role}`)
      await admin.end()
    },
  }
}

async function onMysql(address: string, prefix: string): Promise<HotServer> {
  const admin = await createConnection(address)
  await admin.query(`CREATE DATABASE ${prefix}`)
  await admin.query(`USE ${prefix}`)
  const users = new Set<string>()
  const rows = async (sql: string) => {
    const [found] = await admin.query(sql)
    return Array.isArray(found) ? (found as Record<string, unknown>[]) : []
  }
  const sessions = async (name = '%') => {
    const [found] = await admin.query(
      'SELECT count(*) AS count FROM information_schema.processlist WHERE user LIKE ?',
      [`${prefix}_${name}`],
    )
    return Number((found as { count: number }[])[0]!.count)
  }
  return {
    engine: 'mysql',
    rows,
    user: async (name, password) => {
      const user = `${prefix}_${name}`
      users.add(user)
      await admin.query(`CREATE USER IF NOT EXISTS '${user}'@'%'`)
      await admin.query(`ALTER USER '${user}'@'%' IDENTIFIED BY '${password}'`)
      await admin.query(`GRANT ALL ON ${prefix}.* TO '${user}'@'%'`)
      return dsnOf(address, user, password, prefix)
    },
    lockOut: async (name) => {
      await admin.query(`ALTER USER '${prefix}_${name}'@'%' IDENTIFIED BY 'changed'`)
    },
    sessions,
    gone: (name) => none(() => sessions(name)),
    drop: async () => {
      await admin.query(`DROP DATABASE ${prefix}`)
      for (const user of users) await admin.query(`DROP USER '${user}'@'%'`)
      await admin.end()
    },
  }
}
