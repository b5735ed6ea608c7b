import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import { toolPackage } from './tool-package.js'
import { type MigrationTool, STATEMENTS } from './migration-tool.js'

type Drizzle = Readonly<Record<'drizzle', (client: unknown) => object>>
type Migrator = Readonly<Record<'migrate', (db: object, options: object) => Promise<void>>>

/** Writes a migrations folder as drizzle-kit does. */
function writeFolder(folder: string, dialect: string, count: number): void {
  mkdirSync(join(folder, 'meta'), { recursive: true })
  const entries = STATEMENTS.slice(0, count).map((sql, idx) => {
    const tag = `000${idx}_step`
    writeFileSync(join(folder, `${tag}.sql`), `${sql};\n`)
    return { idx, version: '7', when: 1_700_000_000_000 + idx, tag, breakpoints: true }
  })
  writeFileSync(join(folder, 'meta', '_journal.json'), JSON.stringify({ version: '7', dialect, entries }))
}

export const drizzle: MigrationTool = {
  name: 'Drizzle',
  dialects: ['postgres', 'mysql'],
  apply: async (url, dialect, count, parent) => {
    const migrationsFolder = join(parent, 'drizzle')
    const driver = dialect === 'postgres' ? 'node-postgres' : 'mysql2'
    writeFolder(migrationsFolder, dialect === 'postgres' ? 'postgresql' : 'mysql', count)
    const { drizzle: open } = await toolPackage<Drizzle>(`drizzle-orm/${driver}`)
    const { migrate } = await toolPackage<Migrator>(`drizzle-orm/${driver}/migrator`)
    if (dialect === 'postgres') {
      const client = new Client(url)
      await client.connect()
      await migrate(open(client), { migrationsFolder }).finally(() => client.end())
    } else {
      const client = await createConnection(url)
      await migrate(open(client), { migrationsFolder }).finally(() => client.end())
    }
  },
}
