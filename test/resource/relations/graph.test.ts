import { expect } from 'chai'
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, OneToOne, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { relationGraph } from '../../../lib/resource/relations/graph.js'
import { type EntityClass, type ResourceModel, resourceModel } from '../../../lib/resource/resource-model.js'
import { Charter, Chore, Country, Venture } from './models.js'

const named = (models: readonly ResourceModel[]) => models.map(({ entity }) => entity.name)

/** Classes whose relations refer to one another, made of `Owner.property → Target`. */
function classes(
  ...names: readonly string[]
): Readonly<Record<string, EntityClass<object> & { readonly prototype: object }>> {
  return Object.fromEntries(
    names.map((name) => {
      const entity = { [name]: class {} }[name] as EntityClass<object>
      PrimaryColumn({ type: String, length: name.length })(entity.prototype as object, 'id')
      return [name, entity]
    }),
  )
}

const resources = (entities: Readonly<Record<string, EntityClass<object>>>, shared: readonly string[] = []) =>
  Object.entries(entities).map(([name, entity]) => {
    Entity(name.toLowerCase())(entity)
    if (!shared.includes(name)) TenantScoped()(entity)
    Resource({ shared: shared.includes(name) })(entity)
    return resourceModel(entity)
  })

describe('the graph of relations', () => {
  const models = [Charter, Chore, Country, Venture].map((entity) => resourceModel<object>(entity))
  const graph = relationGraph(models)
  const model = (entity: EntityClass<object>) => resourceModel(entity)

  it('knows parents and children', () => {
    const text = (edges: ReturnType<typeof graph.parents>) =>
      edges.map(({ child, parent, relation }) =>
        [child.entity.name, relation.property, parent.entity.name].join(' '),
      )
    expect(text(graph.parents(model(Chore)))).to.deep.equal(['Chore venture Venture', 'Chore after Chore'])
    expect(text(graph.children(model(Venture)))).to.deep.equal([
      'Charter venture Venture',
      'Chore venture Venture',
    ])
    expect(text(graph.children(model(Charter)))).to.deep.equal([])
  })

  it('puts parents before children', () => {
    expect(named(graph.order)).to.deep.equal(['Country', 'Venture', 'Charter', 'Chore'])
    expect(graph.cycles).to.deep.equal([])
  })

  it('finds nothing wrong', () => {
    expect(models.flatMap((one) => graph.problems(one))).to.deep.equal([])
  })

  it('finds circles, after what they refer to', () => {
    const made = classes('Ant', 'Bee', 'Cow', 'Dog')
    const refer = (from: string, to: string) =>
      ManyToOne(() => made[to] as never)(made[from]?.prototype as object, to.toLowerCase())
    refer('Ant', 'Bee')
    refer('Bee', 'Cow')
    refer('Cow', 'Ant')
    refer('Cow', 'Dog')
    refer('Dog', 'Dog')
    const circle = relationGraph(resources(made))
    expect(named(circle.order)).to.deep.equal(['Dog', 'Ant', 'Bee', 'Cow'])
    expect(circle.cycles.map(named)).to.deep.equal([['Ant', 'Bee', 'Cow']])
  })

  const problems = (
    declare: (made: ReturnType<typeof classes>) => void,
    { shared, without }: { readonly shared?: readonly string[]; readonly without?: string } = {},
  ) => {
    const made = classes('Owner', 'Pet')
    declare(made)
    const all = resources(made, shared).filter(({ entity }) => entity.name !== without)
    const broken = relationGraph(all)
    return all.flatMap((one) => broken.problems(one)).map(({ text }) => text)
  }
  const proto = (made: ReturnType<typeof classes>, name: string) => made[name]?.prototype as object
  const toOwner = (made: ReturnType<typeof classes>, second?: string) =>
    ManyToOne(() => made['Owner'] as never, second as never)(proto(made, 'Pet'), 'owner')

  it('refuses a shared resource that refers to one of a tenant', () => {
    expect(problems((made) => toOwner(made), { shared: ['Pet'] })).to.deep.equal([
      'owner: all tenants share Pet, but each Owner belongs to one tenant: a shared resource cannot refer to a resource of a tenant; make Pet @TenantScoped(), or Owner shared',
    ])
    expect(problems((made) => toOwner(made), { shared: ['Owner'] })).to.deep.equal([])
  })

  it('refuses a target of elsewhere', () => {
    expect(problems((made) => toOwner(made), { without: 'Owner' })).to.deep.equal([
      'owner: Owner is not a resource of the same database: add it to the entities, with @Resource(); or add @Internal(), so that Ashlar does not manage owner: a property with @Column() for its key stays a field',
    ])
  })

  it('refuses another side that is not there', () => {
    expect(problems((made) => toOwner(made, 'pets'))).to.deep.equal([
      'owner: Owner has no @OneToMany() pets to Pet: add it there',
    ])
    expect(
      problems((made) => OneToMany(() => made['Pet'] as never, 'owner')(proto(made, 'Owner'), 'pets')),
    ).to.deep.equal(['pets: Pet has no @ManyToOne() owner that refers to Owner: add it there'])
    expect(
      problems((made) => OneToOne(() => made['Pet'] as never, 'owner')(proto(made, 'Owner'), 'pet')),
    ).to.deep.equal([
      'pet: Pet has no @OneToOne() with @JoinColumn() owner that refers to Owner: add it there',
    ])
  })

  it('refuses a reference to what is not the key', () => {
    expect(
      problems((made) => {
        toOwner(made)
        JoinColumn({ name: 'owner_id', referencedColumnName: 'title' })(proto(made, 'Pet'), 'owner')
      }),
    ).to.deep.equal([
      "owner: @JoinColumn() refers to title, but the key of Owner is id: write referencedColumnName: 'id', or add @Internal() to owner, so that Ashlar does not manage it",
    ])
  })

  it('lets the tenant refer to what all tenants share alone', () => {
    const toTenant = (made: ReturnType<typeof classes>) => {
      toOwner(made)
      JoinColumn({ name: 'account_id' })(proto(made, 'Pet'), 'owner')
      Column({ type: String, length: 5 })(proto(made, 'Pet'), 'accountId')
    }
    expect(problems(toTenant)).to.deep.equal([
      'owner: @JoinColumn() stores the key of the other resource in account_id, which holds the tenant: name another column; the tenant itself can only refer to a resource with shared: true',
    ])
    expect(problems(toTenant, { shared: ['Owner'] })).to.deep.equal([])
  })

  it('refuses a reference to a resource whose tenant has another type', () => {
    const typed = (made: ReturnType<typeof classes>) => {
      toOwner(made)
      Reflect.defineMetadata('design:type', BigInt, proto(made, 'Pet'), 'accountId')
      Column('bigint')(proto(made, 'Pet'), 'accountId')
    }
    expect(problems(typed)).to.deep.equal([
      'owner: accountId of Pet is int64, and accountId of Owner is string: give both tenants one type: the reference holds the tenant too',
    ])
  })

  it('accepts a reference that is shorter than the key', () => {
    const shorter = (made: ReturnType<typeof classes>) => {
      toOwner(made)
      Column({ type: String, length: 3 })(proto(made, 'Pet'), 'ownerId')
    }
    expect(problems(shorter)).to.deep.equal([])
  })
})
