import 'reflect-metadata'
import { expect } from 'chai'
import { Column, DataSource, Entity, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm'
import { Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { DeclarationError } from '../../../lib/errors.js'
import { tableMigrations } from '../../../lib/persistence/index.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { rejection } from '../../support/rejection.js'

@Resource()
@Entity('labels')
@TenantScoped()
class Label {
  @PrimaryColumn() id!: string
  accountId!: string
  @Column({ type: 'int', nullable: true }) accountNumber?: string
  @ManyToOne(() => Task) task?: Relation<Task>
}

@Resource()
@Entity('projects')
@TenantScoped()
@SoftDeletable()
class Project {
  @PrimaryColumn() id!: string
  accountId!: string
  deleteTime?: Date
  @OneToMany(() => Task, 'board') tasks?: Task[]
}

@Resource()
@Entity('tasks')
@TenantScoped()
class Task {
  @PrimaryColumn() id!: string
  accountId!: string
  @ManyToOne(() => Project, { onDelete: 'CASCADE' }) project?: Project
  @ManyToOne(() => Label) label?: Label
}

const ENTITIES: EntityClass<object>[] = [Project, Task, Label]

/** A relation to what is refused itself is no problem of its own. */
const ALL = [
  ['column', 'Label', 'accountNumber'],
  ['relation', 'Project', 'tasks'],
]

const told = ({ values }: DeclarationError) =>
  values.map((one) => {
    const { kind, entity, property } = one as Readonly<Record<string, string>>
    return [kind, entity, property]
  })

const thrown = (fn: () => unknown): Promise<DeclarationError> =>
  rejection(
    new Promise((resolve) => {
      resolve(fn())
    }),
    DeclarationError,
  )

describe('what is wrong with resources, and with how they refer to one another', () => {
  it('is told at once, by a DataSource, for its tables and for a repository of any of them', async () => {
    const sqlite = new SqliteDataSource({ database: ':memory:', entities: ENTITIES })
    expect(told(await rejection(sqlite.initialize(), DeclarationError))).to.deep.equal(ALL)
    expect(told(await rejection(createTables(sqlite, ENTITIES, 'sqlite'), DeclarationError))).to.deep.equal(
      ALL,
    )
    expect(told(await thrown(() => tableMigrations({ Project, Task, Label })))).to.deep.equal(ALL)
    const server = new DataSource({ type: 'postgres', entities: ENTITIES })
    expect(told(await thrown(() => new (repositoryOf(Project))(server)))).to.deep.equal(ALL)
  })
})
