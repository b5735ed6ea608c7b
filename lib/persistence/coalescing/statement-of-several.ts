import type { CoalescingSql } from '../dialects/values/coalescing-sql.js'
import type { Statement } from '../engines/executor/executor.js'
import type { Mergeable } from './coalesced-calls.js'
import type { TableRules } from './table-rules.js'

/**
 * The statement that the calls of an operation may share, if they may; determined when the rules of the table
 * are known.
 * @param may - true if the table allows it.
 */
export function statementOfSeveral(
  { bound }: CoalescingSql,
  rules: TableRules,
  may: () => boolean,
  make: () => Statement,
): Pick<Mergeable<never, never>, 'groupOf' | 'statement' | 'bound'> {
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
