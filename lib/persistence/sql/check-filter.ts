import { InvalidArgument } from '../../errors.js'
import { isUuid, misspelt } from '../../resource/kinds/uuid.js'
import type { FilterNode, PlanColumn, PlanValue } from '../query/query-plan.js'
import type { OfKinds } from '../dialects/values/kind-sql.js'

/**
 * Rejects a client's filter that compares a native UUID column with a UUID in another format.
 *
 * @throws InvalidArgument on `filter`.
 */
export function checkFilter(node: FilterNode | undefined, dialect: OfKinds): void {
  if (node === undefined) return
  if (node.kind === 'and' || node.kind === 'or') for (const one of node.nodes) checkFilter(one, dialect)
  else if (node.kind === 'not' || node.kind === 'some') checkFilter(node.node, dialect)
  else if (node.kind === 'compare') checkValue(node.column, node.value, dialect)
  else if (node.kind === 'among') for (const value of node.values) checkValue(node.column, value, dialect)
}

function checkValue(column: PlanColumn, value: PlanValue, { values: { kinds } }: OfKinds): void {
  if (typeof value !== 'string' || column.otherFormats === undefined) return
  if (isUuid(value) || kinds[column.kind].holds !== undefined) return
  const text = misspelt(undefined).text(column.column, value)
  throw new InvalidArgument('filter', text)
}
