import {
  type IdentifyingColumn,
  type InexactColumn,
  type InexactColumns,
  unlessDeclared,
  wrongType,
} from '../catalog/inexact-columns.js'
import type { TableName } from '../catalog/table-definition.js'
import { quoted } from '../values/quoted.js'

/**
 * SQLite reports a column's type, which determines whether `01` is stored as 1, but not its collation. The
 * collation is tested with a query that reads no rows.
 */
export const inexactColumns: InexactColumns = async (query, table, columns) => {
  const rows = await query('SELECT name, type FROM pragma_table_info(?)', [table.name])
  const types = new Map(rows.map(([name, type]) => [String(name).toLowerCase(), String(type)]))
  const present = columns.filter(({ column }) => types.has(column.toLowerCase()))
  if (present.length === 0) return rows.length === 0 ? undefined : []
  const [counts] = await query(trial(table, present), [])
  return present.flatMap((one, i): InexactColumn[] => {
    const { column } = one
    const type = types.get(column.toLowerCase()) ?? ''
    if (one.isExactAs !== undefined) return [wrongType(one, type) ?? []].flat()
    if (!isText(type)) return [{ column, what: `type ${type}`, advice: 'use TEXT' }]
    const collation = COLLATIONS.get(String(counts?.[i]))
    if (collation === undefined) return []
    const found = { what: `collation ${collation}`, collation, advice: 'use COLLATE BINARY' }
    return [...unlessDeclared(one, found, (name) => name.toUpperCase())]
  })
}

/** The collation by the number of distinct strings among `a` and `A`, and among `a` and `a `. */
const COLLATIONS: ReadonlyMap<string, string> = new Map([
  ['1 2', 'NOCASE'],
  ['2 1', 'RTRIM'],
])

/**
 * Selects these numbers with a UNION, which compares by the collation of its first part:
 * https://www.sqlite.org/lang_select.html#collateseqcompound
 */
const trial = ({ name }: TableName, columns: readonly IdentifyingColumn[]): string => {
  const counts = columns.map(({ column }, i) => {
    const left = (other: string) =>
      `(SELECT count(*) FROM (SELECT ${quoted(column, '`')} FROM ${quoted(name, '`')} WHERE 0 UNION SELECT 'a' UNION SELECT '${other}'))`
    return `${left('A')} || ' ' || ${left('a ')} AS c${i}`
  })
  return `SELECT ${counts.join(', ')}`
}

/**
 * Returns true for text affinity or none:
 * https://www.sqlite.org/datatype3.html#determination_of_column_affinity
 */
const isText = (type: string): boolean =>
  !/INT/i.test(type) && (type === '' || /CHAR|CLOB|TEXT|BLOB/i.test(type))
