import type { CoalescingSql } from '../values/coalescing-sql.js'

/** Writing calls run alone, because SQLite has only one writer at a time. */
const RULES =
  `SELECT CASE m.type WHEN 'table' THEN 't' ELSE 'f' END AS is_table, 'f' AS has_policies, 'f' AS takes_writes, 'f' AS takes_inserts, ` +
  `c.name AS name, 'TEXT' AS type, 'f' AS is_array, 't' AS may_wait, 't' AS may_wait_when_set, 'TEXT' AS whole_type ` +
  'FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.name = ? COLLATE NOCASE'

/**
 * Passes the values of all calls as one JSON string, because binding a value takes as long as reading many
 * from JSON.
 */
export const sqliteCoalescing: CoalescingSql = {
  rules: ({ name }) => ({ text: RULES, values: [name] }),
  calls: (types) =>
    `(SELECT key + 1 AS o, ${types.map((_, i) => `json_extract(value, '$[${i}]') AS v${i}`).join(', ')} FROM json_each(?)) AS k`,
  bound: (calls) => [JSON.stringify(calls)],
}
