import { expect } from 'chai'
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource, SoftDeletable, TenantScoped } from '../../../../decorators/index.js'
import { DeclarationError } from '../../../../lib/errors.js'
import { familyOf } from '../../../../lib/persistence/deletion/rules/family.js'
import { postgres } from '../../../../lib/persistence/dialects/postgres.js'
import { tableMigrations } from '../../../../lib/persistence/index.js'
import { MemoryDatabase } from '../../../../lib/persistence/memory/memory-database.js'
import { referencesOf } from '../../../../lib/persistence/schema/foreign-keys.js'
import { tableOf } from '../../../../lib/persistence/schema/table-of.js'
import { memoryRepositoryOf } from '../../../../lib/persistence/repository-of.js'
import {
  type EntityClass,
  resourceModel,
  type ResourceModel,
} from '../../../../lib/resource/resource-model.js'
import { backends } from '../../../support/databases/backends.js'
import { familyEntities } from '../../../support/entities/family.js'
import { rejection } from '../../../support/rejection.js'

@Resource()
@Entity('boxes')
@TenantScoped()
@SoftDeletable()
class Box {
  @PrimaryColumn({ length: 64 }) id!: string
  accountId!: string
  deleteTime?: Date
}

@Resource()
@Entity('labels')
@TenantScoped()
@SoftDeletable()
class Label {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ name: 'delete_id', default: '' }) mine!: string
  @Column({ length: 64 }) boxId!: string
  @ManyToOne(() => Box)
  @JoinColumn({ name: 'box_id' })
  box?: Box
  accountId!: string
  deleteTime?: Date
}

const tablesOf = (models: readonly ResourceModel[]) => {
  const links = referencesOf(models, postgres)
  return models.map((model) => [model, tableOf(model, postgres, undefined, links(model))] as const)
}

const TAKEN =
  'mine: the framework stores what was deleted together in the column delete_id: name another column'

describe('what goes with an entity', () => {
  const models = familyEntities.map((entity) => resourceModel(entity as EntityClass<object>))

  it('has a column for what was deleted together where two that can be undeleted are, and nowhere else', () => {
    const having = [...familyOf(models).values()].filter(({ undeletedBy }) => undeletedBy === 'id')
    expect(having.map(({ model }) => model.type).sort()).to.deep.equal([
      ...['country', 'job', 'milestone', 'project', 'remark'],
    ])
    for (const [model, { columns }] of tablesOf(models)) {
      const column = columns.find(({ name }) => name === 'delete_id')
      const has = having.some((member) => member.model === model)
      expect(column?.type, model.type).to.equal(has ? 'varchar(36)' : undefined)
      expect(column?.nullable ?? true).to.equal(true)
    }
  })

  it('is in the files of migrations', () => {
    const [, milestones] = tableMigrations({ ...familyEntities }).filter(({ table }) =>
      ['bookmarks', 'milestones'].includes(table),
    )
    expect(milestones?.sqlFor('postgres').up).to.match(/"delete_id" varchar\(36\) COLLATE "C"/)
    expect(milestones?.sqlFor('mysql').up).to.match(/`delete_id` varchar\(36\)/)
  })

  for (const [entity, problem] of [[Label, TAKEN]] as const) {
    it(`is refused by name for a ${entity.name}: in migrations`, () => {
      expect(() => tableMigrations({ Box, entity })).to.throw(DeclarationError, problem)
    })

    for (const backend of backends.filter(({ name }) => ['memory', 'sqlite'].includes(name)))
      it(`is refused by name for a ${entity.name}: on ${backend.name}`, async () => {
        const start = async () => {
          if (backend.name !== 'memory') return backend.open([Box, entity])
          const database = new MemoryDatabase()
          const boxes = new (memoryRepositoryOf(Box))({ database })
          new (memoryRepositoryOf(entity as EntityClass<object>))({ database })
          return boxes.delete('x')
        }
        expect((await rejection(start(), DeclarationError)).problems).to.deep.equal([problem])
      })
  }
})
