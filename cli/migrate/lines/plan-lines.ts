import type {
  PlannedStatement,
  PlannedTable,
  PlannedVersion,
  TableSize,
} from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'

/** Each version with its statements, and below each statement what it does to others. */
export const planLines = (versions: readonly PlannedVersion[], paint: Paint): readonly string[] =>
  versions.flatMap(({ name, chunk, isFramework, statements }) => [
    `${paint.bold(name)}${isFramework ? ', of the framework' : ''}${chunk === undefined ? '' : `, in chunks of at most ${chunk} rows`}`,
    ...statements.flatMap((statement) => [
      // Its files are in the package, where nobody looks for a line.
      `  ${isFramework ? '' : `line ${statement.line}: `}${terminalLine(statement.text)}`,
      ...effectLines(statement, paint).map((line) => `    ${line}`),
    ]),
  ])

function effectLines(statement: PlannedStatement, paint: Paint): readonly string[] {
  const { lock, blocks, rows, tables, isNew } = statement
  if (isNew) return ['a new table: nobody waits for it']
  const colour = {
    nothing: paint.good,
    'the same rows': paint.dim,
    writes: paint.warn,
    'reads and writes': paint.warn,
  }
  const blocking =
    blocks === 'unknown' ? paint.warn('what it blocks is unknown') : colour[blocks](`blocks ${blocks}`)
  const what = lock === '' ? 'no lock on a table' : `lock ${lock}, ${blocking}`
  return [`${what}; ${ROWS[rows]}`, ...tables.map(tableText)]
}

const ROWS: Readonly<Record<PlannedStatement['rows'], string>> = {
  untouched: 'reads no rows',
  read: 'reads every row',
  written: 'writes rows',
  rewritten: 'rewrites every row',
  unknown: 'what it does with the rows is unknown',
}

export function tableText({ name, size }: PlannedTable): string {
  if (size === undefined) return `${terminalLine(name)}: not there yet`
  return `${terminalLine(name)}: ${rowsText(size)}, ${sizeText(size.bytes)}`
}

export const rowsText = ({ rows }: TableSize): string =>
  rows === undefined ? 'rows not counted' : `about ${rows} rows`

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

export function sizeText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${Math.round(bytes / 1024 ** step)} ${UNITS[step] ?? ''}`
}
