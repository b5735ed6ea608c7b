import type { Loss, Lost, PlannedTable, TableSize } from '../../../lib/migrations/index.js'
import { counted } from '../../output/counted.js'
import { terminalLine } from '../../output/terminal-line.js'

const NOT_YET = 'does not exist yet'

/** Returns true if there is something to lose. */
export const isThere = ({ what, size }: Loss): boolean => what === 'schema' || size !== undefined

export function tableText({ name, size }: PlannedTable, missing = NOT_YET): string {
  if (size === undefined) return `${terminalLine(name)}: ${missing}`
  return `${terminalLine(name)}: ${sizesText(size).join(', ')}`
}

/**
 * Formats a loss: `table tasks (about 1200 rows, 64 KiB)`. For a column, only the rows of its table are
 * known.
 */
export function lossText({ what, name, table, size }: Lost & Partial<Pick<Loss, 'size'>>): string {
  const text =
    what === 'rows'
      ? `rows of ${name || 'a table'}`
      : `${what} ${name}${what === 'column' ? ` of ${table ?? ''}` : ''}`
  if (size === undefined) return terminalLine(text)
  const isWhole = what === 'table'
  if (!isWhole && size.rows === undefined) return terminalLine(text)
  return terminalLine(`${text} (${(isWhole ? sizesText(size) : [rowsText(size)]).join(', ')})`)
}

export const lossesText = (losses: readonly (Lost & Partial<Pick<Loss, 'size'>>)[]): string =>
  losses.map((loss) => lossText(loss)).join(', ')

/**
 * Formats a table's size. MySQL updates the number of pages later than the number of rows, so a size that is
 * too small for the rows is omitted.
 */
const sizesText = (size: TableSize): readonly string[] => [
  rowsText(size),
  ...(size.bytes < (size.rows ?? 0) * SMALLEST_ROW_BYTES ? [] : [sizeText(size.bytes)]),
]

const SMALLEST_ROW_BYTES = 16

export function rowsText({ rows }: TableSize): string {
  if (rows === undefined) return 'rows unknown until ANALYZE'
  return rows === 0 ? 'no rows' : `about ${counted(rounded(rows), 'row')}`
}

/** Rounds an estimate, because many digits would suggest an exact number. */
const rounded = (rows: number): number => (rows < 1_000 ? rows : Number(rows.toPrecision(2)))

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

export function sizeText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${Math.round(bytes / 1024 ** step)} ${UNITS[step] ?? ''}`
}
