import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import { serviceUrl } from '../running/services.js'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

type Server = 'postgres' | 'mysql'

let count = 0
const swept = new Map<Server, Promise<void>>()

/**
 * Creates an empty temporary database on a server, after removing those of killed runs.
 *
 * @param settings - the settings with which each of its sessions begins (PostgreSQL).
 */
export async function testDatabase(
  server: Server,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestDatabase> {
  const address = serviceUrl(server)
  if (address === undefined)
    throw new TypeError(`there is no ${server}: see test/support/running/services.ts`)
  const sweeping = swept.get(server) ?? sweep(server, address)
  swept.set(server, sweeping)
  await sweeping
  const name = `ashlar_test_${process.pid}_${++count}`
  const altered = Object.entries(settings).map(
    ([setting, value]) => `ALTER DATABASE ${name} SET ${setting} = '${value}'`,
  )
  const strategy = server === 'postgres' ? await copyStrategy(address) : ''
  await send(server, address, [`${create[server](name)}${strategy}`, ...tuned[server](name), ...altered])
  const url = new URL(address)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: async () => {
      await send(server, address, [drop[server](name)])
    },
  }
}

/** The collations differ from those that the code requests, so that a missing collation is noticed. */
const create: Readonly<Record<Server, (name: string) => string>> = {
  postgres: (name) => `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`,
  mysql: (name) => `CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`,
}

/**
 * PostgreSQL checks for a deadlock after one second, which would slow down every race. Changing this requires
 * a superuser.
 */
const tuned: Readonly<Record<Server, (name: string) => readonly string[]>> = {
  postgres: (name) => [
    `DO $$ BEGIN ALTER DATABASE ${name} SET deadlock_timeout = '50ms'; EXCEPTION WHEN insufficient_privilege THEN NULL; END $$`,
  ],
  mysql: () => [],
}

const drop: Readonly<Record<Server, (name: string) => string>> = {
  postgres: (name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
  mysql: (name) => `DROP DATABASE IF EXISTS ${name}`,
}

const list: Readonly<Record<Server, string>> = {
  postgres: `SELECT datname AS name FROM pg_database WHERE datname LIKE 'ashlar\\_test\\_%'`,
  mysql: `SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE 'ashlar\\_test\\_%'`,
}

/**
 * Removes databases of killed runs. Only on this machine's servers, because elsewhere the process may be
 * running on another machine.
 */
async function sweep(server: Server, address: string): Promise<void> {
  if (!['127.0.0.1', 'localhost', '[::1]', ''].includes(new URL(address).hostname)) return
  const stale = (await send(server, address, [list[server]])).filter(
    (name) => !isAlive(Number(name.split('_')[2])),
  )
  await send(server, address, stale.map(drop[server]))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

async function send(server: Server, address: string, texts: readonly string[]): Promise<readonly string[]> {
  const names: string[] = []
  if (server === 'postgres') {
    const client = new Client({ connectionString: address })
    await client.connect()
    try {
      for (const text of texts)
        names.push(...(await client.query<{ name: string }>(text)).rows.map(({ name }) => name))
    } finally {
      await client.end()
    }
    return names
  }
  const connection = await createConnection({ uri: address })
  try {
    for (const text of texts) {
      const [rows] = await connection.query(text)
      if (Array.isArray(rows))
        names.push(...(rows as unknown as readonly { name: string }[]).map(({ name }) => name))
    }
  } finally {
    await connection.end()
  }
  return names
}

const QUESTION = `SELECT current_setting('fsync') = 'off' AND current_setting('server_version_num')::int >= 150000 AS name`

const known = new Map<string, Promise<string>>()

/**
 * Returns the option of `CREATE DATABASE` for copying the template. Copying files takes half the processor
 * time. It begins with a checkpoint, which is fast if commits do not wait for the disk.
 */
export function copyStrategy(server: string): Promise<string> {
  const strategy =
    known.get(server) ??
    send('postgres', server, [QUESTION]).then(([copies]) =>
      String(copies) === 'true' ? ' STRATEGY FILE_COPY' : '',
    )
  known.set(server, strategy)
  return strategy
}
