import type { CoalescingSql } from '../values/coalescing-sql.js'

/** The maximum number of characters of a column that InnoDB can index whole. */
const MAX_CHARACTERS = 768

/**
 * Decides which calls can be coalesced. Writes cannot: no statement returns the rows that it wrote. Only
 * string columns that the calls' temporary column can represent are searched together: longer strings would
 * be cut, and characters outside its character set changed.
 */
const RULES =
  `SELECT CASE t.TABLE_TYPE WHEN 'BASE TABLE' THEN 't' ELSE 'f' END AS is_table, 'f' AS has_policies, 'f' AS takes_writes, ` +
  `'f' AS takes_inserts, c.COLUMN_NAME, CONCAT('varchar(${MAX_CHARACTERS}) CHARACTER SET utf8mb4 COLLATE ', c.COLLATION_NAME), ` +
  `CASE WHEN c.CHARACTER_SET_NAME = 'utf8mb4' AND c.CHARACTER_MAXIMUM_LENGTH <= ${MAX_CHARACTERS} THEN 'f' ELSE 't' END, ` +
  `'t' AS may_wait, 't' AS may_wait_when_set, c.COLUMN_TYPE ` +
  'FROM information_schema.TABLES t JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME ' +
  'WHERE t.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND t.TABLE_NAME = ?'

export const mysqlCoalescing: CoalescingSql = {
  rules: ({ schema, name }) => ({ text: RULES, values: [schema ?? null, name] }),
  calls: (types) =>
    `JSON_TABLE(?, '$[*]' COLUMNS (o FOR ORDINALITY, ${types.map((type, i) => `v${i} ${type} PATH '$[${i}]'`).join(', ')})) AS k`,
  bound: (calls) => [JSON.stringify(calls.map((values) => values.map(fitting)))],
}

/** Replaces a string that no column can hold with NULL, which matches nothing. */
const fitting = (value: unknown): unknown => (typeof value === 'string' && isTooLong(value) ? null : value)

/**
 * True if a string has too many characters. A character beyond U+FFFF has length two in JavaScript and one in
 * the database.
 */
const isTooLong = (text: string): boolean =>
  text.length > MAX_CHARACTERS &&
  (text.length > 2 * MAX_CHARACTERS || Array.from(text).length > MAX_CHARACTERS)
