import { isOwning, type Relation } from '../../resource/relations/relation.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { ListScope, Through } from '../contract/repository.js'
import { type Scope, scopeOf } from '../contract/scope.js'
import { and, type FilterNode, isNotNull, isNull, type RelatedRow } from '../query/query-plan.js'
import { hasPart } from '../query/reachable.js'
import { predicateOf } from '../query/predicate.js'
import type { FieldsBehind, RelatedFields } from '../query/related-fields.js'
import { acrossTenants, MAX_PATH_DEPTH, relationLoad, relationNamed } from './relation-loads.js'

/**
 * The maximum number of relations that a filter and an order name together. Each is a join, or a subquery for
 * a relation to several rows.
 */
export const MAX_RELATIONS_NAMED = 8

/**
 * The fields that a filter and an order may name through the relations of `through`; undefined for none.
 * @throws TypeError for an invalid path.
 */
export const fieldsThrough = (
  model: ResourceModel,
  scope: Scope,
  { through = [], lock }: Pick<ListScope, 'through' | 'lock'>,
): FieldsBehind | undefined =>
  through.length === 0 ? undefined : new FieldsThrough(model, scope, through, lock !== undefined).behind

/** The start of a relation. */
interface Source {
  readonly model: ResourceModel
  readonly from: RelatedRow | undefined
  /** Properties, from the resource of the list on. */
  readonly path: readonly string[]
}

/**
 * The fields that one filter and one order may name through relations. The same path is the same row in both.
 */
class FieldsThrough {
  readonly behind: FieldsBehind
  /** The conditions on the resources of each path that may be named. */
  readonly #open: ReadonlyMap<string, readonly FilterNode[]>
  #named = 0

  constructor(
    private readonly model: ResourceModel,
    private readonly scope: Scope,
    through: readonly Through[],
    private readonly isLocking: boolean,
  ) {
    this.#open = openPaths(model, through)
    this.behind = this.#behind({ model, from: undefined, path: [] })
  }

  #behind(source: Source): FieldsBehind {
    const known = new Map<string, RelatedFields>()
    return (name) => {
      const relation = source.model.relations.find((one) => one.proto === name)
      if (relation === undefined) return undefined
      const path = [...source.path, relation.property]
      const conditions = this.#open.get(path.join('.'))
      if (conditions === undefined) return undefined
      const fields = known.get(name)
      if (fields !== undefined && !fields.isMany) return fields
      if (this.isLocking) return 'leads to another resource, which cannot be named while rows are locked'
      if (++this.#named > MAX_RELATIONS_NAMED)
        return `exceeds the ${MAX_RELATIONS_NAMED} relations that a filter and a sort order may use`
      const found = this.#fields(source, relation, path, conditions)
      known.set(name, found)
      return found
    }
  }

  #fields(
    { model, from }: Source,
    relation: Relation,
    path: readonly string[],
    conditions: readonly FilterNode[],
  ): RelatedFields {
    const { target, from: reference, by } = relationLoad(model, relation)
    const isMany = !isOwning(relation)
    const tenant = this.#tenantOf(model, target)
    const row: RelatedRow = {
      target,
      from,
      pairs: [...tenant.pairs, { from: reference, to: by }],
      where: and(
        ...tenant.conditions,
        target.deleteTime === undefined ? undefined : isNull(target.deleteTime),
        ...conditions,
      ),
    }
    const { columns, closed } = target
    // A condition on one of several rows is a plan of its own.
    const behind = this.#behind({ model: target, from: isMany ? undefined : row, path })
    return { columns, closed, behind, row, isMany }
  }

  /**
   * The tenant of the target's rows: the tenant of the row that refers to them, or the call's.
   * @throws PermissionDenied if the call has no tenant, and the target belongs to one.
   */
  #tenantOf(source: ResourceModel, target: ResourceModel) {
    const { tenant } = scopeOf(target, { context: this.scope.context })
    const none = { pairs: [], conditions: [] }
    if (target.tenant === undefined) return none
    if (source.tenant !== undefined) return { ...none, pairs: [{ from: source.tenant, to: target.tenant }] }
    if (tenant !== undefined) return { ...none, conditions: [hasPart(target.tenant, tenant)] }
    if (this.model.tenant === undefined)
      return target.existing ? { ...none, conditions: [isNotNull(target.tenant)] } : none
    throw acrossTenants(source, target)
  }
}

/** The paths with those on the way to them. What is said of one path twice holds together. */
function openPaths(
  model: ResourceModel,
  through: readonly Through[],
): ReadonlyMap<string, readonly FilterNode[]> {
  const open = new Map<string, readonly FilterNode[]>()
  for (const one of through) {
    const { relation: text, where } = typeof one === 'string' ? { relation: one } : one
    const names = text.split('.')
    if (names.length > MAX_PATH_DEPTH)
      throw new TypeError(`through: "${text}" has more than ${MAX_PATH_DEPTH} relations`)
    let inside = model
    for (const [i, name] of names.entries()) {
      inside = resourceModel<object>(relationNamed(inside, name, 'through').target())
      const path = names.slice(0, i + 1).join('.')
      if (!open.has(path)) open.set(path, [])
    }
    if (where === undefined) continue
    const condition = predicateOf(inside, where)
    if (condition === undefined)
      throw new TypeError(`through: \`where\` of "${text}" is blank: leave it out to reach every row`)
    open.set(text, [...(open.get(text) ?? []), condition])
  }
  return open
}
