import { quoted } from '../values/quoted.js'
import type { CoalescingSql } from '../values/coalescing-sql.js'
import { TABLE_RULES } from './table-rules.js'

/** Passes values as arrays, one per column, with an element for each call. */
export const postgresCoalescing: CoalescingSql = {
  rules: ({ schema, name }, identity) => {
    const table = [...(schema === undefined ? [] : [schema]), name].map((one) => quoted(one, '"')).join('.')
    return { text: TABLE_RULES, values: [table, identity] }
  },
  calls: (types) =>
    `unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')}) WITH ORDINALITY AS k(${types.map((_, i) => `v${i}`).join(', ')}, o)`,
  bound: (calls) => (calls[0] ?? []).map((_, i) => calls.map((values) => values[i])),
}
