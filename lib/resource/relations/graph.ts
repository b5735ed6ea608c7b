import { type Problem, propertyProblem } from '../../errors.js'
import type { Field } from '../fields/field.js'
import { isOfTenant, isOwning, type OwningRelation, type RelatedClass, type Relation } from './relation.js'

/** The part of a resource model that the graph needs. */
export interface RelatedModel {
  readonly entity: RelatedClass
  readonly key: Field
  readonly existing: boolean
  readonly tenant: Field | undefined
  readonly relations: readonly Relation[]
}

/** A reference from one resource to another, or to itself. */
export interface Edge<M extends RelatedModel> {
  readonly child: M
  readonly parent: M
  /** The relation as the child declares it. */
  readonly relation: OwningRelation
}

/** The relations among the resources of a database. */
export interface RelationGraph<M extends RelatedModel> {
  /** Returns the resources to which a resource refers, in declaration order. */
  readonly parents: (model: M) => readonly Edge<M>[]
  /** Returns the resources that refer to a resource. */
  readonly children: (model: M) => readonly Edge<M>[]
  /** Returns the resource at the other end of a relation. */
  readonly target: (relation: Relation) => M | undefined
  /**
   * The resources, parents before children. Within a cycle and between unrelated resources, the given order
   * is kept.
   */
  readonly order: readonly M[]
  /**
   * Groups of resources that refer to each other in a cycle. A resource that refers only to itself is not
   * included.
   */
  readonly cycles: readonly (readonly M[])[]
  /** Returns the problems of a resource's relations. */
  readonly problems: (model: M) => readonly Problem[]
}

/**
 * Computes the relation graph. Call it after every class is loaded.
 * @param models - all models of one database.
 */
export function relationGraph<M extends RelatedModel>(models: readonly M[]): RelationGraph<M> {
  const byEntity = new Map<RelatedClass, M>(models.map((model) => [model.entity, model]))
  const target = (relation: Relation) => byEntity.get(relation.target())
  const edges = models.flatMap((child) =>
    child.relations.filter(isOwning).flatMap((relation): Edge<M>[] => {
      const parent = target(relation)
      return parent === undefined ? [] : [Object.freeze({ child, parent, relation })]
    }),
  )
  const grouped = (side: 'child' | 'parent') => {
    const groups = new Map<M, Edge<M>[]>()
    for (const edge of edges) groups.set(edge[side], [...(groups.get(edge[side]) ?? []), edge])
    return (model: M): readonly Edge<M>[] => groups.get(model) ?? NONE
  }
  const [parents, children] = [grouped('child'), grouped('parent')]
  const refersTo = (model: M) => parents(model).map(({ parent }) => parent)
  const components = inOrder(componentsOf(models, refersTo), models, refersTo)
  return Object.freeze({
    parents,
    children,
    target,
    order: components.flat(),
    cycles: components.filter(({ length }) => length > 1),
    problems: (model: M) =>
      model.relations.flatMap((relation) => [...problemsOf(model, relation, target(relation))]),
  })
}

const NONE: readonly never[] = []

/**
 * Sorts components so that each follows the components to which it refers, and otherwise in the given order.
 */
function inOrder<M>(
  components: readonly (readonly M[])[],
  given: readonly M[],
  refersTo: (model: M) => readonly M[],
): readonly (readonly M[])[] {
  const waiting = [...components].sort((a, b) => given.indexOf(a[0] as M) - given.indexOf(b[0] as M))
  const done = new Set<M>()
  const ordered: (readonly M[])[] = []
  while (waiting.length > 0) {
    const next = waiting.findIndex((component) =>
      component.every((model) =>
        refersTo(model).every((other) => done.has(other) || component.includes(other)),
      ),
    )
    const [component = []] = waiting.splice(next, 1)
    for (const model of component) done.add(model)
    ordered.push(component)
  }
  return ordered
}

/** Returns the strongly connected components (Tarjan's algorithm). */
function componentsOf<M>(
  models: readonly M[],
  refersTo: (model: M) => readonly M[],
): readonly (readonly M[])[] {
  const components: (readonly M[])[] = []
  const indexes = new Map<M, number>()
  const lowest = new Map<M, number>()
  const stack: M[] = []
  const visit = (model: M): number => {
    const index = indexes.size
    indexes.set(model, index)
    stack.push(model)
    let low = index
    for (const other of refersTo(model))
      if (!indexes.has(other)) low = Math.min(low, visit(other))
      else if (stack.includes(other)) low = Math.min(low, indexes.get(other) as number)
    lowest.set(model, low)
    if (low === index) {
      const members = new Set(stack.splice(stack.indexOf(model)))
      components.push(models.filter((one) => members.has(one)))
    }
    return low
  }
  for (const model of models) if (!indexes.has(model)) visit(model)
  return components
}

function* problemsOf(
  model: RelatedModel,
  relation: Relation,
  target: RelatedModel | undefined,
): Generator<Problem> {
  const { property } = relation
  const { name } = relation.target()
  if (target === undefined) {
    yield propertyProblem(
      'relation',
      property,
      `${property}: ${name} is not a resource of the same database`,
      `add it to the entities, with @Resource(); or add @Internal(), so that Ashlar does not manage ${property}: a property with @Column() for its key ${isOwning(relation) && isOfTenant(relation) ? 'holds the tenant, with @TenantColumn()' : 'stays a field'}`,
    )
    return
  }
  const back = target.relations.find((one) => one.property === relation.inverse)
  if (!isOwning(relation)) {
    const needed = relation.kind === 'one-to-many' ? 'many-to-one' : 'one-to-one'
    if (back === undefined || back.kind !== needed || back.target() !== model.entity)
      yield propertyProblem(
        'relation',
        property,
        `${property}: ${name} has no ${needed === 'many-to-one' ? '@ManyToOne()' : '@OneToOne() with @JoinColumn()'} ${relation.inverse} that refers to ${model.entity.name}`,
        'add it there',
      )
    return
  }
  const { reference, referenced } = relation
  const inverseKind = relation.kind === 'many-to-one' ? 'one-to-many' : 'one-to-one-inverse'
  if (relation.inverse !== undefined && (back?.kind !== inverseKind || back.target() !== model.entity))
    yield propertyProblem(
      'relation',
      property,
      `${property}: ${name} has no ${inverseKind === 'one-to-many' ? '@OneToMany()' : '@OneToOne() without @JoinColumn()'} ${relation.inverse} to ${model.entity.name}`,
      'add it there',
    )
  if (model.tenant === undefined && target.tenant !== undefined)
    yield propertyProblem(
      'relation',
      property,
      `${property}: all tenants share ${model.entity.name}, but each ${name} belongs to one tenant`,
      `a shared resource cannot refer to a resource of a tenant; make ${model.entity.name} @TenantScoped(), or ${name} shared`,
    )
  if (isOfTenant(relation) && target.tenant !== undefined)
    yield propertyProblem(
      'relation',
      property,
      `${property}: @JoinColumn() stores the key of the other resource in ${reference.column}, which holds the tenant`,
      `name another column; the tenant itself can only refer to a resource with shared: true`,
    )
  else if (model.tenant !== undefined && target.tenant !== undefined) {
    const [own, other] = [model.tenant, target.tenant].map(({ kind, stored }) => stored ?? kind)
    if (own !== other)
      yield propertyProblem(
        'relation',
        property,
        `${property}: ${model.tenant.property} of ${model.entity.name} is ${own}, and ${target.tenant.property} of ${name} is ${other}`,
        'give both tenants one type: the reference holds the tenant too',
      )
  }
  if (referenced !== undefined && referenced !== target.key.property)
    yield propertyProblem(
      'relation',
      property,
      `${property}: @JoinColumn() refers to ${referenced}, but the key of ${name} is ${target.key.property}`,
      model.existing
        ? `add @Internal() to ${property}, so that Ashlar does not manage it: ${reference.property} stays a field`
        : `write referencedColumnName: '${target.key.property}', or add @Internal() to ${property}, so that Ashlar does not manage it`,
    )
  const [held, wanted] = [reference, target.key].map(({ kind, stored }) => stored ?? kind)
  if (held !== wanted)
    yield propertyProblem(
      'relation',
      property,
      `${property}: ${reference.property} is ${held}, but the key of ${name} is ${wanted}`,
      `give ${relation.isHidden ? `a property @Column() ${reference.property}` : reference.property} the type of that key`,
    )
}
