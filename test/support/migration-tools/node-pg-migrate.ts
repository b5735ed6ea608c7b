import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolPackage } from './tool-package.js'
import { type MigrationTool, STATEMENTS } from './migration-tool.js'

type Runner = Readonly<Record<'runner', (options: object) => Promise<unknown>>>

export const nodePgMigrate: MigrationTool = {
  name: 'node-pg-migrate',
  dialects: ['postgres'],
  apply: async (databaseUrl, _dialect, count, parent) => {
    const dir = join(parent, 'pgm')
    mkdirSync(dir, { recursive: true })
    for (const [at, sql] of STATEMENTS.slice(0, count).entries())
      writeFileSync(join(dir, `170000000000${at}_step.sql`), `-- Up Migration\n${sql};\n-- Down Migration\n`)
    const { runner } = await toolPackage<Runner>('node-pg-migrate')
    const logger = {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
    }
    await runner({ databaseUrl, dir, direction: 'up', migrationsTable: 'pgmigrations', logger })
  },
}
