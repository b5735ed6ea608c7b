import { ErrConflict, InvalidArgument, PermissionDenied } from '../../errors.js'
import { RequestContext } from '../../context.js'
import { ruleNames } from '../../resource/index-groups.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Filter } from '../query/filter-template.js'
import type { FilterNode } from '../query/query-plan.js'
import { predicateOf } from '../query/predicate.js'
import { isStorable } from '../query/reachable.js'
import type { RowOptions } from './repository.js'

/** The rows that a statement can reach. */
export interface Reach {
  /**
   * Undefined for every tenant: in system calls, for a resource without tenants, or if the key identifies one
   * tenant's row.
   */
  readonly tenant: string | undefined
  /** Rows that do not match count as missing. */
  readonly where?: FilterNode | undefined
}

/** The rows that an operation can reach, and the context of its call. */
export interface Scope extends Reach {
  readonly context: RequestContext
}

/** The row to write and the conditions that it must meet. */
export interface RowCondition {
  /** The key as the caller passed it. */
  readonly key: unknown
  readonly scope: Scope
  /** The etag that the row must have. */
  readonly ifMatch?: string | undefined
}

/**
 * Returns the scope of an operation: the principal's tenant and the condition on the rows.
 *
 * @throws TypeError if `where` is invalid or empty.
 * @throws PermissionDenied if the resource belongs to tenants and the call has no tenant, or a tenant that
 *   no row can
 * have.
 */
export function scopeOf(model: ResourceModel, options: RowOptions | undefined): Scope {
  const where = options?.where === undefined ? undefined : conditionOf(model, options.where)
  const context = options?.context ?? RequestContext.current()
  if (context.system !== undefined) context.reportSystemUse(model.type)
  if (model.tenant === undefined) return { context, tenant: undefined, where }
  const { tenant } = context
  if (tenant === '' || (tenant === undefined && context.system === undefined))
    throw new PermissionDenied('the call has no tenant, but this resource belongs to one')
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

/** Returns the error of a system call across all tenants whose key exists in several tenants. */
export const ambiguousKey = (model: ResourceModel): InvalidArgument =>
  new InvalidArgument(
    model.key.proto,
    'several tenants have this key: narrow the call with asSystem({ tenant })',
  )

/**
 * Returns the error for a used key. If another tenant may have the key, the error does not name it as the
 * cause.
 */
export const keyConflict = (model: ResourceModel): ErrConflict =>
  new ErrConflict(undefined, model.tenant === undefined || model.tenantInKey ? ruleNames([model.key]) : [])

/**
 * Maps entities by their keys.
 * @throws InvalidArgument if several tenants have the same key.
 */
export function byKey<E extends object>(model: ResourceModel<E>, entities: readonly E[]): Map<string, E> {
  const found = new Map<string, E>()
  for (const entity of entities) {
    const key = model.keys.textOf(entity)
    if (found.has(key)) throw ambiguousKey(model)
    found.set(key, entity)
  }
  return found
}
