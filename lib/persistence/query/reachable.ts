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

/** True if a database can hold the text. Text that it cannot hold is in no row, so it need not be queried. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/**
 * The rows that have this text in a part of a key, a reference or the tenant. None has a text that is not
 * canonical.
 */
export function hasPart(field: Field, text: string): FilterNode {
  const value = planValueOf(field, keyPartOf(field).valueOf(text))
  return value === undefined ? or() : equals(field, value)
}

/**
 * Removes comparisons with text that no column can hold: no row matches, and PostgreSQL would refuse the
 * text.
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

/** False for a value and unknown for NULL, as any comparison, so that it works inside a `not`. */
function unreachable({ column, key }: Pick<CompareNode, 'column' | 'key'>): FilterNode {
  const text = (op: CompareNode['op']): FilterNode =>
    ({ ...compare(asText(column), op, ''), key }) as FilterNode
  return and(text('<'), text('>='))
}

const asText = (column: PlanColumn): PlanColumn =>
  rulesOf(column).hasKeys ? column : { ...column, kind: string.name }
