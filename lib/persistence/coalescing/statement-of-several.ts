import type { CoalescingSql } from '../dialects/values/coalescing-sql.js'
import type { Statement } from '../engines/executor/executor.js'
import type { CoalescedOperation } from './coalesced-calls.js'
import type { TableRules } from './table-rules.js'

/**
 * Returns a function that returns the shared statement of an operation, or undefined if its calls must not
 * share one. The result is determined once the rules of the table are known.
 *
 * @param may - returns true if the table allows sharing.
 */
export function statementOfSeveral(
  { bound }: CoalescingSql,
  rules: TableRules,
  may: () => boolean,
  make: () => Statement,
): Pick<CoalescedOperation<never, never>, 'groupOf' | 'statement' | 'bound'> {
  let isAllowed: boolean | undefined
  let statement: Statement | undefined
  return {
    bound,
    groupOf: (tenant) => {
      const group = rules.groupOf(tenant)
      return group !== undefined && (isAllowed ??= may()) ? group : undefined
    },
    statement: () => (statement ??= make()),
  }
}
