import type { MergingSql } from '../dialects/values/merging-sql.js'
import type { Statement } from '../engines/executor/executor.js'
import type { Mergeable } from './merged-calls.js'
import type { TableRules } from './table-rules.js'

/**
 * Where the calls of an operation may share a statement, and with which one: known when the rules of the
 * table are.
 * @param may - whether the table lets them.
 */
export function statementOfSeveral(
  { bound }: MergingSql,
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
