import type { Field } from '../../resource/fields/field.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { ListPlan } from '../contract/list-plan.js'
import { planValueOf } from '../query/compare-values.js'
import { and, type FilterNode, or, type PlanValue } from '../query/query-plan.js'
import { hasPart } from '../query/reachable.js'
import type { RelationLoad } from './relation-loads.js'

/** A search for the live resources of a relation that have one of these values in a field. */
export interface Search {
  readonly relation: RelationLoad
  /** The distinct values as canonical strings; at least one. */
  readonly values: readonly string[]
  /**
   * The tenant of each value's resource, if the call spans all tenants. Undefined if all resources belong to
   * the call's tenant.
   */
  readonly tenants: readonly string[] | undefined
  /**
   * The maximum number of resources, which are read in key order. One more is read if it exists. Undefined if
   * the values are unique.
   */
  readonly size: number | undefined
}

/** Returns the search as a list. */
export const listOf = ({ relation, values, tenants, size = values.length }: Search): ListPlan => {
  const { target, by } = relation
  return {
    filter: tenants === undefined ? among(by, values) : ofEach(target, by, values, tenants),
    search: '',
    showDeleted: false,
    terms: [{ column: target.key, direction: 'asc' }],
    cursor: undefined,
    size: size + 1,
    nextPageToken: () => '',
  }
}

const among = (column: Field, texts: readonly string[]): FilterNode => {
  const { valueOf } = keyPartOf(column)
  const values = texts.map((text) => planValueOf(column, valueOf(text)) as PlanValue)
  return { kind: 'among', column, values }
}

/** Returns the condition for each tenant's values. */
function ofEach(
  target: ResourceModel,
  by: Field,
  values: readonly string[],
  tenants: readonly string[],
): FilterNode {
  const byTenant = new Map<string, string[]>()
  for (const [i, tenant] of tenants.entries()) {
    const value = values[i] as string
    const own = byTenant.get(tenant)
    if (own === undefined) byTenant.set(tenant, [value])
    else own.push(value)
  }
  const owner = target.tenant as Field
  return or(...[...byTenant].map(([tenant, own]) => and(hasPart(owner, tenant), among(by, own))))
}
