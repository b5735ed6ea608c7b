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
 * The maximum number of relations in a filter and a sort order together. Each is a join, or a subquery if it
 * has several rows.
 */
export const MAX_RELATIONS_NAMED = 8

/**
 * Returns the fields that can be named through the relations in `through`, or undefined if there are none.
 *
 * @throws TypeError if a path is invalid.
 */
export const fieldsThrough = (
  model: ResourceModel,
  scope: Scope,
  { through = [], lock }: Pick<ListScope, 'through' | 'lock'>,
): FieldsBehind | undefined =>
  through.length === 0 ? undefined : new FieldsThrough(model, scope, through, lock !== undefined).behind

/** The resource from which a relation starts. */
interface Source {
  readonly model: ResourceModel
  readonly from: RelatedRow | undefined
  /** The properties of the path from the listed resource. */
  readonly path: readonly string[]
}

/**
 * The fields that a filter and a sort order can name through relations. In both of them, the same path refers
 * to the same row.
 */
class FieldsThrough {
  readonly behind: FieldsBehind
  /** The conditions on related resources, by path that can be named. */
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
    // A condition on one of several rows has its own plan.
    const behind = this.#behind({ model: target, from: isMany ? undefined : row, path })
    return { columns, closed, behind, row, isMany }
  }

  /**
   * Returns the tenant condition on the target's rows: the tenant of the referring row or of the call.
   *
   * @throws PermissionDenied if the target has a tenant and the call has none.
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

/** Returns the paths and their prefixes. Conditions on the same path are combined. */
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
