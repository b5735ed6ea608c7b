import type { Field } from '../../resource/fields/field.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { ListPlan } from '../contract/list-plan.js'
import { planValueOf } from '../query/compare-values.js'
import { and, type FilterNode, or, type PlanValue } from '../query/query-plan.js'
import { hasPart } from '../query/reachable.js'
import type { RelationLoad } from './relation-loads.js'

/** The targets of a relation: the live resources that have one of these values in a field. */
export interface Search {
  readonly relation: RelationLoad
  /** The canonical text of each, once, and at least one. */
  readonly values: readonly string[]
  /**
   * The text of whose resource each value means, where the call spans all tenants. Undefined where all are of
   * the call's.
   */
  readonly tenants: readonly string[] | undefined
  /**
   * The maximum number of resources: they are read in the order of their keys, and one more if more exist.
   * Undefined if the values are unique.
   */
  readonly size: number | undefined
}

/** The search as a list. */
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

/** The values of each tenant, separate from the other tenants' values. */
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
