import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../decorators/index.js'
import { WidgetSchema } from '../../examples/widgets/gen/widgets_pb.js'
import { DeclarationError } from '../../lib/errors.js'
import { MemoryRepository } from '../../lib/persistence/memory/memory-repository.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { type EntityClass, resourceModel } from '../../lib/resource/resource-model.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'

@Resource()
@Entity('silent')
class Silent {
  @PrimaryColumn() id!: string
}

@Resource({ shared: false })
@Entity('denying')
class Denying {
  @PrimaryColumn() id!: string
}

@Resource({ shared: true })
@Entity('both')
@TenantScoped()
class Both {
  @PrimaryColumn() id!: string
}

@Resource({ shared: true })
@Entity('owned')
class Owned {
  @PrimaryColumn() id!: string
  @Column() accountId!: string
}

@Resource({ message: WidgetSchema })
@Entity('widgets')
class Ownerless {
  @PrimaryColumn() id!: string
}

@Resource({ message: WidgetSchema, shared: true })
@Entity('widgets')
class SharedWidget {
  @PrimaryColumn() id!: string
}

@Resource()
@Entity('odd')
class Odd {
  @PrimaryColumn() id!: string
  @Column({ nullable: true }) accountId!: boolean
}

@Resource({ shared: true })
@Entity('fine')
class Fine {
  @PrimaryColumn() id!: string
}

@Resource()
@Entity('scoped')
@TenantScoped()
class Scoped {
  @PrimaryColumn() id!: string
}

@Resource()
@Entity('keyed_by_id')
class KeyedById {
  @PrimaryColumn() id!: string
  @Column() accountId!: string
}

const NEITHER =
  'it does not declare to whom its entities belong: write @TenantScoped() below @Resource() if each belongs to a tenant, or @Resource({ shared: true }) if all tenants share them; an application without tenants calls withoutTenants() once'

const refusals: readonly (readonly [
  what: string,
  entity: EntityClass<object>,
  problems: readonly string[],
])[] = [
  ['that says neither', Silent, [NEITHER]],
  ['that says only that it is not shared', Denying, [NEITHER]],
  ['that says both', Both, ['@TenantScoped() and shared: true contradict each other: keep one of them']],
  [
    'that is shared and has the column of a tenant',
    Owned,
    [
      'shared: true and the column accountId contradict each other: remove the column, or write @TenantScoped() below @Resource()',
    ],
  ],
  [
    'whose accountId holds no tenant',
    Odd,
    [
      "accountId is bool, but must hold a principal's tenant: make it a string, a uuid or an integer",
      'accountId must not be nullable: no call can reach a row without a tenant',
    ],
  ],
]

const problemsOf = (entity: EntityClass<object>): readonly string[] => {
  try {
    resourceModel(entity)
    return []
  } catch (error) {
    return (error as DeclarationError).problems
  }
}

describe('whose the entities of a resource are', () => {
  for (const [what, entity, problems] of refusals)
    it(`refuses a resource ${what}`, () => {
      expect(problemsOf(entity)).to.deep.equal(problems)
    })

  it('advises @TenantScoped where the message has account_id, and no column', () => {
    const problems = problemsOf(Ownerless).filter((problem) => /account/i.test(problem))
    expect(problems).to.deep.equal([
      NEITHER.replace('a tenant, or', 'a tenant, as account_id in widgets.v1.Widget suggests, or'),
    ])
  })

  it('tells a shared resource to drop account_id from its message', () => {
    const problems = problemsOf(SharedWidget).filter((problem) => /account/i.test(problem))
    expect(problems).to.deep.equal([
      'widgets.v1.Widget has a field account_id, but a shared resource has no tenant: remove the field, or write @TenantScoped() below @Resource() instead of shared: true',
    ])
  })

  it('is said by shared, by @TenantScoped, and by a column accountId', () => {
    expect([Fine, Scoped, KeyedById].flatMap((entity) => [...problemsOf(entity)])).to.deep.equal([])
    expect(resourceModel(Fine).tenant).to.equal(undefined)
    expect(resourceModel(Scoped).tenantInKey).to.equal(true)
    expect(resourceModel(KeyedById).tenantInKey).to.equal(false)
  })

  it('is asked before a repository is made, and before a table is', async () => {
    const dataSource = new SqliteDataSource({ database: ':memory:', entities: [Silent] })
    for (const make of [
      () => repositoryOf(Silent),
      () => memoryRepositoryOf(Silent),
      () => new MemoryRepository(Silent),
      () => new TypeormRepository(dataSource, Silent),
    ])
      expect(make).to.throw(DeclarationError, /Silent: 1 problem\(s\)\n {2}- it does not declare to whom/)
    const error = await dataSource.initialize().catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(DeclarationError)
    expect(dataSource.isInitialized).to.equal(false)
  })
})
