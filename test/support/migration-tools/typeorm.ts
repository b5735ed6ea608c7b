import { DataSource, type QueryRunner, Table, TableColumn } from 'typeorm'
import { COLUMNS, type MigrationTool } from './migration-tool.js'

class Tasks1700000000000 {
  name = 'Tasks1700000000000'
  up = (runner: QueryRunner) =>
    runner.createTable(
      new Table({
        name: 'tasks',
        columns: COLUMNS.map(([name, length, isNullable]) => ({
          ...{ name, type: 'varchar', length: String(length), isNullable },
          isPrimary: name === 'account_id' || name === 'id',
        })),
      }),
    )
  down = () => Promise.resolve()
}

class Due1800000000000 {
  name = 'Due1800000000000'
  up = (runner: QueryRunner) =>
    runner.addColumn('tasks', new TableColumn({ name: 'due', type: 'bigint', isNullable: true }))
  down = () => Promise.resolve()
}

export const typeorm: MigrationTool = {
  name: 'TypeORM',
  dialects: ['postgres', 'mysql'],
  apply: async (url, type, count) => {
    const migrations = [Tasks1700000000000, Due1800000000000].slice(0, count)
    const source = new DataSource({ type, url, migrations })
    await source.initialize()
    try {
      await source.runMigrations()
    } finally {
      await source.destroy()
    }
  },
}
