import type { TableDefinition } from '../catalog/table-definition.js'

const LONGEST_KEY = 3072
const BYTES_OF_A_CHARACTER = 4
const LONGEST_OTHER = 8

/** Reports the keys of a table that are too long for InnoDB, each with advice. */
export const longKeys = ({
  name: table,
  columns,
  primaryKey,
  indexes,
}: TableDefinition): readonly string[] => {
  const bytes = new Map(columns.map(({ name, type }) => [name, bytesOf(type)]))
  const compared = indexes.filter(({ method }) => method === undefined)
  return [{ name: 'PRIMARY KEY', columns: primaryKey }, ...compared].flatMap(({ name, columns: of }) => {
    const length = of.reduce((sum, column) => sum + (bytes.get(column) ?? 0), 0)
    if (length <= LONGEST_KEY) return []
    const size = Number.isFinite(length) ? `has ${length} bytes` : 'has a column without a length'
    return [`${name} of ${table} ${size} and may have ${LONGEST_KEY}: give ${of.join(', ')} shorter lengths`]
  })
}

function bytesOf(type: string): number {
  const length = /^varchar\((\d+)\)$/.exec(type)?.[1]
  if (length !== undefined) return Number(length) * BYTES_OF_A_CHARACTER
  return type.startsWith('long') || type === 'json' ? Infinity : LONGEST_OTHER
}
