import { toolPackage } from './tool-package.js'
import { COLUMNS, type MigrationTool } from './migration-tool.js'

interface Column {
  notNullable(): Column
}

interface Table {
  string(name: string, length: number): Column
  bigInteger(name: string): Column
  primary(columns: readonly string[]): void
}

interface Connection {
  readonly schema: {
    createTable(name: string, make: (table: Table) => void): Promise<void>
    alterTable(name: string, change: (table: Table) => void): Promise<void>
  }
  readonly migrate: { latest(options: object): Promise<unknown> }
  destroy(): Promise<void>
}

const MIGRATIONS: readonly (readonly [string, (connection: Connection) => Promise<void>])[] = [
  [
    '20231114_tasks',
    ({ schema }) =>
      schema.createTable('tasks', (table) => {
        for (const [name, length, nullable] of COLUMNS) {
          const column = table.string(name, length)
          if (!nullable) column.notNullable()
        }
        table.primary(['account_id', 'id'])
      }),
  ],
  ['20231115_due', ({ schema }) => schema.alterTable('tasks', (table) => void table.bigInteger('due'))],
]

export const knex: MigrationTool = {
  name: 'Knex',
  dialects: ['postgres', 'mysql'],
  apply: async (url, dialect, count) => {
    const { knex: connect } = await toolPackage<{ knex: (options: object) => Connection }>('knex')
    const connection = connect({ client: dialect === 'postgres' ? 'pg' : 'mysql2', connection: url })
    const migrationSource = {
      getMigrations: () => Promise.resolve(MIGRATIONS.slice(0, count)),
      getMigrationName: ([name]: (typeof MIGRATIONS)[number]) => name,
      getMigration: ([, up]: (typeof MIGRATIONS)[number]) => Promise.resolve({ up, down: () => undefined }),
    }
    try {
      await connection.migrate.latest({ migrationSource })
    } finally {
      await connection.destroy()
    }
  },
}
