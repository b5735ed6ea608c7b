import type { OrderTerm } from './order-by.js'
import type { CursorValue } from './page-token.js'
import {
  type FilterNode,
  type PlanValue,
  type RowNode,
  and,
  compare,
  equals,
  isNotNull,
  isNull,
  or,
} from './query-plan.js'

/**
 * Returns the condition for the rows after the row with these sort values. The last term must be unique;
 * otherwise rows would be skipped.
 */
export const keysetPredicate = (terms: readonly OrderTerm[], values: readonly CursorValue[]): FilterNode => {
  const [first] = terms
  const isRow =
    terms.length > 1 &&
    terms.every(
      ({ column, direction }, i) => !column.nullable && direction === first?.direction && values[i] !== null,
    )
  if (!isRow || first === undefined) return after(terms, values, 0)
  return {
    kind: 'row',
    columns: terms.map(({ column }) => column),
    op: first.direction === 'asc' ? '>' : '<',
    values: values as readonly PlanValue[],
  }
}

/**
 * Returns a condition for the same rows that does not compare rows, because MySQL cannot use an index for row
 * comparisons.
 */
export const expandedRow = ({ columns, op, values }: RowNode): FilterNode => {
  const direction = op === '>' ? 'asc' : 'desc'
  return after(
    columns.map((column) => ({ column, direction })),
    values,
    0,
  )
}

const after = (terms: readonly OrderTerm[], values: readonly CursorValue[], index: number): FilterNode => {
  const term = terms[index]
  // A row that equals the cursor in every term is the cursor's own row.
  if (term === undefined) return or()
  const { column, direction } = term
  const value = values[index] ?? null
  const rest = index + 1 < terms.length ? [after(terms, values, index + 1)] : []

  if (value === null) {
    const beyond = direction === 'desc' ? [isNotNull(column)] : []
    return or(...beyond, ...rest.map((node) => and(isNull(column), node)))
  }
  const [beyond, atLeast] = direction === 'asc' ? (['>', '>='] as const) : (['<', '<='] as const)
  const further: FilterNode[] = [compare(column, beyond, value)]
  if (direction === 'asc' && column.nullable) further.push(isNull(column))
  const tied = rest.map((node) => and(equals(column, value), node))
  const node = or(...further, ...tied)
  // This condition is redundant, but lets an index scan start at the value.
  return further.length === 1 && tied.length > 0 ? and(compare(column, atLeast, value), node) : node
}
