import { ErrConflict, InvalidArgument, PermissionDenied } from '../../errors.js'
import { RequestContext } from '../../context.js'
import { ruleNames } from '../../resource/index-groups.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Filter } from '../query/filter-template.js'
import type { FilterNode } from '../query/query-plan.js'
import { predicateOf } from '../query/predicate.js'
import { isStorable } from '../query/reachable.js'
import type { RowOptions } from './repository.js'

/** The rows that a statement may reach. */
export interface Reach {
  /**
   * Undefined reaches every tenant: for the system, a resource without tenants, or a key that only one tenant
   * has.
   */
  readonly tenant: string | undefined
  /** Rows that do not match count as missing. */
  readonly where?: FilterNode | undefined
}

/** The rows that an operation may reach, and the call that it runs for. */
export interface Scope extends Reach {
  readonly context: RequestContext
}

/** Which row a write means, and what it has to be. */
export interface RowCondition {
  /** As the caller gave it. */
  readonly key: unknown
  readonly scope: Scope
  /** The etag that the row must have. */
  readonly ifMatch?: string | undefined
}

/**
 * The scope of an operation: whose rows, from its principal alone, and which of them.
 * @throws TypeError for a `where` that is wrong or blank.
 * @throws PermissionDenied when the resource belongs to tenants and the call has none, or one that no row can
 * be of.
 */
export function scopeOf(model: ResourceModel, options: RowOptions | undefined): Scope {
  const where = options?.where === undefined ? undefined : conditionOf(model, options.where)
  const context = options?.context ?? RequestContext.current()
  if (context.system !== undefined) context.reportSystemUse(model.type)
  if (model.tenant === undefined) return { context, tenant: undefined, where }
  const { tenant } = context
  if (tenant === '' || (tenant === undefined && context.system === undefined))
    throw new PermissionDenied('the call has no tenant, and this resource belongs to one')
  if (tenant !== undefined && !isStorable(tenant))
    throw new PermissionDenied('the tenant of the call contains a character that a database cannot store')
  return { context, tenant, where }
}

function conditionOf(model: ResourceModel, where: Filter): FilterNode {
  const condition = predicateOf(model, where)
  if (condition === undefined)
    throw new TypeError(`${model.entity.name}: \`where\` is blank: leave it out to reach every row`)
  return condition
}

/** The error of a system call over all tenants that names a key of several tenants. */
export const ambiguousKey = (model: ResourceModel): InvalidArgument =>
  new InvalidArgument(
    model.key.proto,
    'several tenants have this key: narrow the call with asSystem({ tenant })',
  )

/**
 * A key that is taken. If another tenant may have it, the caller does not learn that the key is the cause.
 */
export const keyConflict = (model: ResourceModel): ErrConflict =>
  new ErrConflict(undefined, model.tenant === undefined || model.tenantInKey ? ruleNames([model.key]) : [])

/** Entities by their keys. @throws InvalidArgument when several tenants have one of them. */
export function byKey<E extends object>(model: ResourceModel<E>, entities: readonly E[]): Map<string, E> {
  const found = new Map<string, E>()
  for (const entity of entities) {
    const key = model.keys.textOf(entity)
    if (found.has(key)) throw ambiguousKey(model)
    found.set(key, entity)
  }
  return found
}
