import { postgresEffects } from './effects.js'
import type { KeyColumn, WalkSql } from '../session/walk.js'

const quoted = (name: unknown): string => `"${String(name).replaceAll('"', '""')}"`

/** Returns the value as a literal, which PostgreSQL converts to the type of the compared column. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
const text = (expression: string): string => `${expression}::text`
const equals: KeyColumn['equals'] = (value) => ({ sql: '?', values: [value] })

export const postgresWalk: WalkSql = {
  find: async (session, path) => {
    // The schemas of extensions are searched, too, but their tables are never intended.
    const name = path.length > 1 ? path.map(quoted).join('.') : `${session.prefix}${quoted(path[0])}`
    const key = await session.rows(
      `SELECT attname AS name FROM pg_index CROSS JOIN LATERAL unnest(indkey) WITH ORDINALITY AS part (attnum, place)
       JOIN pg_attribute USING (attnum)
       WHERE attrelid = indrelid AND indisprimary AND place <= indnkeyatts AND indrelid = to_regclass(?)
       ORDER BY place`,
      [name],
    )
    return {
      name,
      key: key.map((column) => ({
        column: String(column.name),
        name: quoted(column.name),
        text,
        literal,
        equals,
      })),
      rows: (await postgresEffects.sizeOf(session, path))?.rows,
    }
  },
  compare: (columns, operator, position) => `(${columns.join(', ')}) ${operator} (${position.join(', ')})`,
}
