import { mysqlEffects } from './effects.js'
import type { KeyColumn, WalkSql } from '../session/walk.js'

const quoted = (name: unknown): string => `\`${String(name).replaceAll('`', '``')}\``

export const mysqlWalk: WalkSql = {
  find: async (session, path) => {
    const [table = '', database] = [...path].reverse()
    const of = `TABLE_NAME = ? AND TABLE_SCHEMA = ${database === undefined ? 'DATABASE()' : '?'}`
    const values = database === undefined ? [table] : [table, database]
    const key = await session.rows(
      `SELECT COLUMN_NAME AS name, DATA_TYPE AS type FROM information_schema.COLUMNS
       JOIN (SELECT COLUMN_NAME AS part, SEQ_IN_INDEX AS place FROM information_schema.STATISTICS
             WHERE ${of} AND INDEX_NAME = 'PRIMARY') AS parts ON part = COLUMN_NAME
       WHERE ${of} ORDER BY place`,
      [...values, ...values],
    )
    return {
      name: path.map(quoted).join('.'),
      key: key.map(({ name, type }) => ({
        column: String(name),
        name: quoted(name),
        ...formOf(String(type).toLowerCase()),
      })),
      rows: (await mysqlEffects.sizeOf(session, path))?.rows,
    }
  },
  // For `(a, b) > (x, y)` the server would read the whole table.
  compare: (columns, operator, position) => {
    const [strictly] = operator
    return columns.reduceRight((rest, column, at) => {
      const value = position[at] ?? ''
      return rest === ''
        ? `${column} ${operator} ${value}`
        : `(${column} ${strictly} ${value} OR (${column} = ${value} AND ${rest}))`
    }, '')
  },
}

/**
 * Returns the SQL form of a type's values. Numbers have no quotes, because strings would be compared as
 * floats.
 */
function formOf(type: string): Pick<KeyColumn, 'text' | 'literal' | 'equals'> {
  const form = textForm(type)
  return { ...form, equals: (text) => ({ sql: form.literal(text), values: [] }) }
}

function textForm(type: string): Pick<KeyColumn, 'text' | 'literal'> {
  const hex = (text: string) => Buffer.from(text).toString('hex')
  if (/binary|blob/.test(type))
    return { text: (expression) => `HEX(${expression})`, literal: (text) => `X'${text}'` }
  return {
    text: (expression) => `CAST(${expression} AS CHAR CHARACTER SET utf8mb4)`,
    literal: /int$|^decimal$|^year$/.test(type) ? (text) => text : (text) => `_utf8mb4 X'${hex(text)}'`,
  }
}
