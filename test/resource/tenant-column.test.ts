import { expect } from 'chai'
import { Column, Entity, JoinColumn, ManyToOne, OneToOne, PrimaryColumn } from 'typeorm'
import { Internal, Resource, TenantColumn, TenantScoped } from '../../decorators/index.js'
import type { DeclarationError } from '../../lib/errors.js'
import { relationGraph } from '../../lib/resource/relations/graph.js'
import { type EntityClass, resourceModel } from '../../lib/resource/resource-model.js'

@Resource({ shared: true })
@Entity('unions')
class Union {
  @PrimaryColumn() id!: string
}

type Declare = (prototype: object, entity: EntityClass<object>) => void

/** A resource with a key; the rest is declared by the function. */
function declared(declare: Declare): EntityClass<object> {
  @Entity('members')
  class Member {
    @PrimaryColumn() id!: string
  }
  declare(Member.prototype, Member)
  Resource()(Member)
  return Member
}

const property = (prototype: object, name: string, type: unknown, ...decorate: PropertyDecorator[]) => {
  Reflect.defineMetadata('design:type', type, prototype, name)
  for (const each of decorate) each(prototype, name)
}

const problemsOf = (declare: Declare): readonly string[] => {
  try {
    resourceModel(declared(declare))
    return []
  } catch (error) {
    return (error as DeclarationError).problems
  }
}

describe('the column of the tenant', () => {
  it('is that of the property that the class names', () => {
    const model = resourceModel(
      declared((prototype, entity) => {
        property(prototype, 'orgId', String, Column('uuid'))
        property(prototype, 'accountId', String, Column({ name: 'account_id' }))
        TenantScoped({ column: 'orgId' })(entity)
      }),
    )
    expect(model.tenant).to.include({ property: 'orgId', column: 'org_id', kind: 'uuid', writable: false })
    expect(model.tenantInKey).to.equal(true)
    expect(model.byProperty.get('accountId')).to.include({ role: 'plain', writable: true })
  })

  it('is that of the property that is marked, and without @TenantScoped() no part of the key', () => {
    const model = resourceModel(
      declared((prototype) => property(prototype, 'orgId', BigInt, TenantColumn(), Column('bigint'))),
    )
    expect(model.tenant).to.include({ property: 'orgId', kind: 'int64' })
    expect(model.tenantInKey).to.equal(false)
  })

  it('is that of a reference to the resource of the tenants, whose column is added', () => {
    const model = resourceModel(
      declared((prototype, entity) => {
        property(
          prototype,
          'union',
          Object,
          ManyToOne(() => Union),
          TenantColumn(),
        )
        TenantScoped()(entity)
      }),
    )
    expect(model.tenant).to.include({ property: 'unionId', column: 'union_id', nullable: false })
    expect(model.relations).to.have.length(1)
  })

  it('is another property than a reference to what is not a resource', () => {
    class Club {
      id!: string
    }
    const target = () => Club
    const refers = declared((prototype) =>
      property(prototype, 'club', Object, ManyToOne(target), TenantColumn()),
    )
    const { problems } = relationGraph([resourceModel(refers)])
    expect(problems(resourceModel(refers)).map(({ advice }) => advice)).to.deep.equal([
      'add it to the entities, with @Resource(); or add @Internal(), so that Ashlar does not manage club: a property with @Column() for its key holds the tenant, with @TenantColumn()',
    ])
    const followed = declared((prototype) => {
      property(prototype, 'club', Object, ManyToOne(target), Internal())
      property(prototype, 'clubId', String, Column(), TenantColumn())
    })
    expect(resourceModel(followed).tenant).to.include({ property: 'clubId' })
  })

  const refusals: readonly (readonly [what: string, declare: Declare, problem: string])[] = [
    [
      'a property without a column',
      (prototype, entity) => {
        property(prototype, 'orgId', String, Column())
        TenantScoped({ column: 'ogrId' })(entity)
      },
      'the tenant is declared in ogrId, but no property ogrId has a column; did you mean orgId?: add @Column() ogrId!: string, a uuid or an integer, or name another property',
    ],
    [
      'two properties',
      (prototype) => {
        for (const name of ['orgId', 'teamId']) property(prototype, name, String, TenantColumn(), Column())
      },
      'its tenant is declared in orgId and in teamId: keep one @TenantColumn(), or the column of @TenantScoped()',
    ],
    [
      'a date',
      (prototype) => property(prototype, 'orgId', String, TenantColumn(), Column('date')),
      "orgId is date, but must hold a principal's tenant: make it a string, a uuid or an integer",
    ],
    [
      'a column that can be NULL',
      (prototype) => property(prototype, 'orgId', String, TenantColumn(), Column({ nullable: true })),
      'orgId must not be nullable: no call can reach a row without a tenant',
    ],
    [
      'a reference that one entity of a tenant has',
      (prototype, entity) => {
        property(
          prototype,
          'union',
          Object,
          OneToOne(() => Union),
          JoinColumn({ name: 'union_id' }),
        )
        TenantScoped({ column: 'union' })(entity)
      },
      'union: unionId is the tenant, which many entities have: write @ManyToOne()',
    ],
    [
      'an option that is no name',
      (_, entity) => TenantScoped({ column: 7 as never })(entity),
      '@TenantScoped: column is 7, but must be the name of a property',
    ],
  ]
  for (const [what, declare, problem] of refusals)
    it(`is not ${what}`, () => {
      expect(problemsOf(declare)).to.include(problem)
    })
})
