import 'reflect-metadata'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'

/** A resource and an entity that is none, which extend one class. */
async function startedWith(naming: 'snake' | 'typeorm') {
  abstract class Base {
    @PrimaryColumn() id!: string
    @Column() accountId!: string
    @Column() displayName!: string
  }
  @Resource({ naming })
  @Entity('tasks')
  @TenantScoped()
  class Task extends Base {}
  @Entity('plain')
  class Plain extends Base {
    @Column() ownName!: string
  }
  const dataSource = new SqliteDataSource({ database: ':memory:', entities: [Task, Plain] })
  await dataSource.initialize()
  try {
    const { columns } = dataSource.getMetadata(Plain)
    const { warnings } = await new (repositoryOf(Task))(dataSource).startUpCheck()
    return { columns: columns.map(({ databaseName }) => databaseName), warnings }
  } finally {
    await dataSource.destroy()
  }
}

describe('an entity that is not a resource, and extends a class of one', () => {
  it('is warned of where the resource changes the columns of that class', async () => {
    const { columns, warnings } = await startedWith('snake')
    expect(columns).to.deep.equal(['id', 'account_id', 'display_name', 'ownName'])
    expect(warnings).to.deep.equal([
      "Plain is not a resource, and inherits id, accountId, displayName from a class that a resource extends. The resource names these columns in snake_case and adds the tenant to the primary key, for Plain as well: write naming: 'typeorm' in its @Resource(), or declare them in each class",
    ])
  })

  it('keeps its columns where the resource changes nothing', async () => {
    const { columns, warnings } = await startedWith('typeorm')
    expect(columns).to.deep.equal(['id', 'accountId', 'displayName', 'ownName'])
    expect(warnings).to.deep.equal([])
  })
})
