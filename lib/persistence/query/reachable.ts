import type { Field } from '../../resource/fields/field.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import { string } from '../../resource/kinds/text.js'
import { planValueOf } from './compare-values.js'
import { rulesOf } from './plan-rules.js'
import {
  and,
  compare,
  type CompareNode,
  equals,
  type FilterNode,
  not,
  or,
  type PlanColumn,
} from './query-plan.js'

/**
 * Returns true if databases can store the string. No row contains any other string, so there is no need to
 * search for it.
 */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/**
 * Returns the condition for rows with this key, reference or tenant. A string that is not canonical matches
 * no row.
 */
export function hasPart(field: Field, text: string): FilterNode {
  const value = planValueOf(field, keyPartOf(field).valueOf(text))
  return value === undefined ? or() : equals(field, value)
}

/**
 * Replaces comparisons with strings that no column can hold. They match no row, and PostgreSQL would reject
 * the string.
 */
export function reachable(node: FilterNode): FilterNode {
  switch (node.kind) {
    case 'and':
      return and(...node.nodes.map(reachable))
    case 'or':
      return or(...node.nodes.map(reachable))
    case 'not':
      return not(reachable(node.node))
    case 'contains':
      return isStorable(node.value) ? node : unreachable(node)
    case 'element':
      return typeof node.value !== 'string' || isStorable(node.value) ? node : or()
    case 'compare':
      return typeof node.value !== 'string' || isStorable(node.value) ? node : comparison(node)
    default:
      return node
  }
}

function comparison(node: CompareNode): FilterNode {
  return node.op === '!=' ? not(unreachable(node)) : unreachable(node)
}

/**
 * Returns a condition that is false for values and unknown for NULL, like any comparison, so that it is
 * correct inside `not`.
 */
function unreachable({ column, key }: Pick<CompareNode, 'column' | 'key'>): FilterNode {
  const text = (op: CompareNode['op']): FilterNode =>
    ({ ...compare(asText(column), op, ''), key }) as FilterNode
  return and(text('<'), text('>='))
}

const asText = (column: PlanColumn): PlanColumn =>
  rulesOf(column).hasKeys ? column : { ...column, kind: string.name }
