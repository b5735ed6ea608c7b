import type { Field } from '../fields/field.js'

/**
 * Functions that a stored vector must not use, because the vector would become outdated or PostgreSQL rejects
 * it.
 */
const UNSTABLE = new Set(
  `now random clock_timestamp statement_timestamp transaction_timestamp timeofday current_timestamp current_date
  current_time localtime localtimestamp current_user session_user user current_setting nextval currval lastval setval
  gen_random_uuid uuid_generate_v4 txid_current pg_sleep concat concat_ws to_char age`.split(/\s+/),
)
const STATEMENTS = new Set(
  'select insert update delete with values table returning into from union'.split(' '),
)

/**
 * Returns the reason why a raw expression cannot be searched; undefined if it can. Strings and quoted names
 * are recognized.
 */
export function rawSqlProblem(sql: string, fields: readonly Field[], table: string): string | undefined {
  if (sql.trim() === '') return 'is empty'
  const words: string[] = []
  const rest = sql.replace(/'(?:[^']|'')*'|"((?:[^"]|"")*)"/g, (_, quoted: string | undefined) => {
    if (quoted !== undefined) words.push(quoted)
    return ' '
  })
  if (/;|--|\/\*|\$|'|"/.test(rest))
    return 'must be one expression without comments, parameters or dollar quotes'
  if (!isBalanced(rest)) return 'has unbalanced parentheses'
  const bare: readonly string[] = rest.toLowerCase().match(/[a-z_][a-z0-9_]*/g) ?? []
  words.push(...bare)
  const statement = words.find((word) => STATEMENTS.has(word))
  if (statement !== undefined)
    return `contains ${statement.toUpperCase()}: a source is an expression over the columns of one row`
  const unstable = words.find((word) => UNSTABLE.has(word))
  if (unstable !== undefined)
    return `uses ${unstable}, which is not immutable: a stored vector would become wrong`
  if (words.includes(table)) return `names the table ${table}, which means the whole row: name the columns`
  const unquoted = fields.find(
    ({ column }) =>
      bare.includes(column.toLowerCase()) && !fields.some((one) => one.column === column.toLowerCase()),
  )
  if (unquoted !== undefined)
    return `names ${unquoted.column} without quotes, which PostgreSQL converts to lower case: write "${unquoted.column}"`
  const secret = fields.find(
    (field) => (field.role === 'secret' || field.role === 'credential') && words.includes(field.column),
  )
  return secret === undefined
    ? undefined
    : `reads ${secret.column}, which belongs to a secret or a credential`
}

function isBalanced(text: string): boolean {
  let depth = 0
  for (const character of text) {
    if (character === '(') depth++
    if (character === ')' && --depth < 0) return false
  }
  return depth === 0
}
