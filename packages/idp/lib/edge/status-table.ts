import { oneLine } from '../printed.js'
import type { ListedRoute } from './edge-client.js'

const COLUMNS = ['host', 'path', 'upstream', 'project', 'owner', 'ttl'] as const

/**
 * Returns the routes as lines of a table. Control characters are escaped, so that routes cannot control the
 * terminal.
 */
export function statusTable(routes: readonly ListedRoute[]): readonly string[] {
  if (routes.length === 0) return ['There are no routes.']
  const rows = [
    COLUMNS.map((column) => column.toUpperCase()),
    ...routes.map((route) => COLUMNS.map((column) => cellOf(column, route[column]))),
  ]
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => [...(row[at] ?? '')].length)))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function cellOf(column: string, value: unknown): string {
  if (column === 'ttl') return typeof value === 'number' && value > 0 ? `${value / 1e9}s` : '-'
  const text = typeof value === 'string' ? oneLine(value) : ''
  return text === '' ? '-' : text
}
