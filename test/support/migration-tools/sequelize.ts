import { toolPackage } from './tool-package.js'
import { COLUMNS, type MigrationTool } from './migration-tool.js'

interface QueryInterface {
  createTable(name: string, columns: object): Promise<void>
  addColumn(table: string, name: string, column: object): Promise<void>
}

interface Connection {
  getQueryInterface(): QueryInterface
  close(): Promise<void>
}

interface Sequelize {
  readonly Sequelize: new (url: string, options: object) => Connection
  readonly DataTypes: { readonly STRING: (length: number) => object; readonly BIGINT: object }
}

interface Umzug {
  readonly Umzug: new (options: object) => { up(): Promise<unknown> }
  readonly SequelizeStorage: new (options: object) => object
}

export const sequelize: MigrationTool = {
  name: 'Sequelize',
  dialects: ['postgres', 'mysql'],
  apply: async (url, _dialect, count) => {
    const { Sequelize: Opened, DataTypes } = await toolPackage<Sequelize>('sequelize')
    const { Umzug: Runner, SequelizeStorage } = await toolPackage<Umzug>('umzug')
    const connection = new Opened(url, { logging: false })
    const columns = COLUMNS.map(([name, length, allowNull]) => [
      name,
      { type: DataTypes.STRING(length), allowNull, primaryKey: name === 'account_id' || name === 'id' },
    ])
    const migrations = [
      {
        name: '01-tasks.js',
        up: ({ context }: { readonly context: QueryInterface }) =>
          context.createTable('tasks', Object.fromEntries(columns) as object),
      },
      {
        name: '02-due.js',
        up: ({ context }: { readonly context: QueryInterface }) =>
          context.addColumn('tasks', 'due', { type: DataTypes.BIGINT }),
      },
    ]
    try {
      await new Runner({
        migrations: migrations.slice(0, count),
        context: connection.getQueryInterface(),
        storage: new SequelizeStorage({ sequelize: connection }),
        logger: undefined,
      }).up()
    } finally {
      await connection.close()
    }
  },
}
