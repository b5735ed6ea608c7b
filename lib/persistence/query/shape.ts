import type { OrderTerm } from './order-by.js'
import type { FilterNode, PlanColumn } from './plan.js'

/**
 * A key for the SQL text of a plan: equal keys have equal texts in each dialect, whatever the values. It holds columns
 * and operators, and never a literal or a tag's key.
 */
export const shapeOf = (node: FilterNode | undefined): string => {
  if (node === undefined) return ''
  switch (node.kind) {
    case 'and':
    case 'or': {
      let shape = node.kind === 'and' ? '&(' : '|('
      for (const operand of node.nodes) shape += shapeOf(operand)
      return `${shape})`
    }
    case 'not':
      return `~${shapeOf(node.node)}`
    case 'null':
      return `0${columnShape(node.column)}`
    case 'has':
      return `?${columnShape(node.column)}`
    case 'contains':
      return `${node.key === undefined ? ':' : '.:'}${columnShape(node.column)}`
    case 'compare':
      return `${node.key === undefined ? '' : '.'}${node.op} ${columnShape(node.column)}`
    case 'row':
      return `r${node.op}(${node.columns.map(columnShape).join('')})`
  }
}

/** The same for the text of an ORDER BY list. */
export const shapeOfOrder = (terms: readonly OrderTerm[]): string =>
  terms.map(({ column, direction }) => `${direction === 'asc' ? '+' : '-'}${columnShape(column)}`).join('')

/** NUL ends the name, because nothing else is impossible in one. */
const columnShape = ({ column, kind, nullable }: PlanColumn): string =>
  `${column}\0${kind}${nullable ? '?' : ''};`
