import type { LiveSchema } from '../../../lib/persistence/index.js'
import type { CatalogRow } from '../../../lib/persistence/dialects/catalog/live-table.js'

/**
 * A MariaDB whose catalogs speak as those of MySQL 8 do: a type of its own for JSON, defaults as values or as
 * expressions, and its collation, which MariaDB does not have.
 */
export const asMysql8 = ({ rows, ...live }: LiveSchema): LiveSchema => ({
  ...live,
  rows: async (text, values = []) => {
    if (text.includes('VERSION()')) return [{ version: '8.4.0' }]
    const found = await rows(text.replaceAll('utf8mb4_0900_bin', 'utf8mb4_nopad_bin'), values)
    if (text.includes('information_schema.COLUMNS')) {
      const checks = await rows(
        'SELECT CONSTRAINT_NAME AS name, CHECK_CLAUSE AS clause FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() AND TABLE_NAME = ?',
        values.slice(1),
      )
      const json = checks.filter(isOfJson).map(({ name }) => name)
      return found.map((row) => columnOf(row, json.includes(row.name)))
    }
    if (!text.includes("CONSTRAINT_TYPE = 'CHECK'")) return found
    const columns = await rows(
      'SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?',
      values,
    )
    return found.filter(({ name }) => columns.every((column) => column.name !== name))
  },
})

const isOfJson = ({ name, clause }: CatalogRow): boolean => clause === `json_valid(\`${String(name)}\`)`

function columnOf(row: CatalogRow, isJson: boolean): CatalogRow {
  const { type, collated } = row
  return {
    ...row,
    ...defaultOf(row),
    type: isJson ? 'json' : type,
    collated: isJson || typeof collated !== 'string' ? null : collated.replace('nopad_bin', '0900_bin'),
  }
}

/** MySQL escapes a text in an expression, and then the expression. A long text takes no other default. */
function defaultOf({ type, fallback, extra }: CatalogRow): CatalogRow {
  if (typeof fallback !== 'string' || fallback === 'NULL') return { fallback: null, extra }
  const literal = /^'(.*)'$/s.exec(fallback)?.[1]
  if (literal === undefined) return { fallback, extra: /\(/.test(fallback) ? 'DEFAULT_GENERATED' : extra }
  const value = literal.replace(/''|\\(.)/gs, (_, after?: string) =>
    after === undefined ? "'" : (ESCAPED[after] ?? after),
  )
  if (!/text$|blob$/.test(String(type))) return { fallback: value, extra }
  return { fallback: `_utf8mb4${escaped(`'${escaped(value)}'`)}`, extra: 'DEFAULT_GENERATED' }
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', Z: '\x1a' }
