import type {
  Loss,
  Lost,
  PlannedRollBack,
  PlannedStatement,
  PlannedTable,
  PlannedVersion,
  TableSize,
} from '../../../lib/migrations/index.js'
import { counted } from '../../output/counted.js'
import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'

/**
 * Each version with its statements, and below each statement what it does to others; at the end, how locks are waited for.
 * @param running - the versions that a session works on now.
 */
export function planLines(
  versions: readonly PlannedVersion[],
  running: readonly string[],
  lockWaits: string,
  paint: Paint,
): readonly string[] {
  const lines = versions.flatMap(({ name, chunk, isFramework, done, rollBack, statements }) => [
    `${paint.bold(name)}${isFramework ? ', of the framework' : ''}${chunk === undefined ? '' : `, in chunks of at most ${chunk} rows`}`,
    ...rollBackLines(rollBack, running.includes(name), paint),
    ...(done === 0
      ? []
      : [
          running.includes(name)
            ? `  ${doneText(done)} done by the run that works on it now`
            : `  ${doneText(done)} done by an earlier run: up goes on after that`,
        ]),
    ...statements.flatMap((statement) => [
      // Its files are in the package, where nobody looks for a line.
      `  ${isFramework ? '' : `line ${statement.line}: `}${terminalLine(statement.text)}`,
      ...effectLines(statement, paint, { name }).map((line) => `    ${line}`),
    ]),
  ])
  const areLocked = versions.some(({ rollBack, statements }) =>
    [...(rollBack?.statements ?? []), ...statements].some(({ blocks }) => WAITED_FOR.has(blocks)),
  )
  const notes = [
    ...(lines.some((line) => line.includes('…'))
      ? [`${SHORTENED}${versions.some(({ isFramework }) => isFramework) ? FRAMEWORK_FILES : '.'}`]
      : []),
    ...(areLocked ? [`${lockWaits}. ${GIVES_UP}`] : []),
  ]
  return notes.length === 0 ? lines : [...lines, '', ...notes]
}

const SHORTENED = '… stands for a text in quotes, or for the rest of a long statement: the file has all of it'
const FRAMEWORK_FILES = ' (those of the framework are in node_modules/ashlar/migrations).'

/** What up does first with a rollback that stopped. */
function rollBackLines(
  rollBack: PlannedRollBack | undefined,
  isRunning: boolean,
  paint: Paint,
): readonly string[] {
  if (rollBack === undefined) return []
  const { staysApplied, isUnknown, done, of, statements } = rollBack
  if (isRunning) return ['  it is rolled back now']
  if (staysApplied) return ['  its rollback failed and took nothing away; up only clears the mark']
  if (isUnknown)
    return [
      '  its rollback stopped: up looks whether it is done, and where it is not, the version stays applied',
    ]
  const asks = statements.some(({ loses }) => loses.some(isThere))
  const stopped = done === 0 ? 'in statement 1' : `after statement ${done}`
  const numbers = of - done === 1 ? `statement ${of}` : `statements ${done + 1} to ${of}`
  const rest =
    done === of
      ? 'only its row is left'
      : `up first finishes it (${numbers})${asks ? ' and asks before (--yes)' : ''}`
  return [
    paint.bad(`  its rollback stopped ${stopped} of ${of}: ${rest}, and then applies the file again`),
    ...statements.flatMap((statement, at) => [
      `  rollback, statement ${done + at + 1}: ${terminalLine(statement.text)}`,
      ...effectLines({ ...statement, loses: statement.loses.filter(isThere) }, paint, { missing: GONE }).map(
        (line) => `    ${line}`,
      ),
    ]),
  ]
}

const doneText = (done: number): string => (done === 1 ? 'statement 1 is' : `statements 1 to ${done} are`)

/** What a statement blocks that takes a lock for which it may have to wait. */
const WAITED_FOR = new Set<PlannedStatement['blocks']>([
  ...(['writes', 'reads and writes', 'reads and writes for a moment', 'unknown'] as const),
])

const GIVES_UP = 'up gives up waiting after --lock-timeout (by default 2000 ms), and can then be run again.'

/** Whether there is something to lose. */
export const isThere = ({ what, size }: Loss): boolean => what === 'schema' || size !== undefined

function effectLines(
  statement: PlannedStatement,
  paint: Paint,
  { name, missing = NOT_YET }: { readonly name?: string; readonly missing?: string },
): readonly string[] {
  const { lock, blocks, rows, waitsForOlder, tables, isNew, loses, fails, failsAfter, breaks } = statement
  if (isNew) return ['a new table: nobody waits for it']
  const colour = {
    nothing: paint.good,
    'the same rows': paint.dim,
    writes: paint.warn,
    'reads and writes': paint.warn,
    'reads and writes for a moment': paint.dim,
  }
  const blocking =
    blocks === 'unknown'
      ? paint.warn('what it blocks is unknown')
      : colour[blocks](`blocks ${blocks === 'nothing' ? 'no reads or writes' : blocks}`)
  const what = lock === '' ? 'no lock on a table' : `lock ${lock}, ${blocking}`
  return [
    `${what}; ${ROWS[rows]}${rows === 'read' && blocks === 'reads and writes for a moment' ? ', while others go on' : ''}`,
    ...(waitsForOlder === true ? [WAITS_FOR_OLDER] : []),
    ...tables.map((table) => tableText(table, IF_EXISTS.test(statement.text) ? NOT_THERE : missing)),
    ...loses.map((loss) =>
      loss.isBroughtBack
        ? paint.warn(`drops ${lossText(loss)}: the way down fills it again, and blocks the table meanwhile`)
        : paint.bad(`loses ${lossText(loss)}: the values are gone for good`),
    ),
    ...fails.map((query) =>
      paint.warn(`${failsText(failsAfter, name)}: ${terminalLine(query, LONGEST_QUERY)}`),
    ),
    ...(breaks === undefined ? [] : [paint.bad(`breaks: ${breaks}`)]),
  ]
}

const WAITS_FOR_OLDER =
  'waits for the transactions that were open before it; --concurrent-timeout (by default 900000 ms) ends its wait and its work, and --statement-timeout does not'

/** @param after - the version that adds what the query reads. */
function failsText(after: string | undefined, name: string | undefined): string {
  if (after === undefined) return 'fails where this finds a row'
  return after === name
    ? 'fails where this finds a row, once this file has added what it reads'
    : `when ${name ?? 'this version'} begins, this must find no row (it can be run once ${after} is applied)`
}

const ROWS: Readonly<Record<PlannedStatement['rows'], string>> = {
  untouched: 'reads no rows',
  read: 'reads every row',
  written: 'writes rows',
  rewritten: 'rewrites every row',
  'in place': 'may read every row or build the table anew, while others go on',
  unknown: 'what it does with the rows is unknown',
}

const LONGEST_QUERY = 1_000
const NOT_YET = 'not there yet'
const NOT_THERE = 'not there'
const GONE = 'not there: this statement fails'
const IF_EXISTS = /\bIF EXISTS\b/i

export function tableText({ name, size }: PlannedTable, missing = NOT_YET): string {
  if (size === undefined) return `${terminalLine(name)}: ${missing}`
  return `${terminalLine(name)}: ${sizesText(size).join(', ')}`
}

/** `table tasks (about 1200 rows, 64 KiB)`; of a column, only the rows of its table are known. */
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

/** MySQL counts the pages of a table later than its rows: a size that cannot hold them is left out. */
const sizesText = (size: TableSize): readonly string[] => [
  rowsText(size),
  ...(size.bytes < (size.rows ?? 0) * SMALLEST_ROW_BYTES ? [] : [sizeText(size.bytes)]),
]

const SMALLEST_ROW_BYTES = 16

export function rowsText({ rows }: TableSize): string {
  if (rows === undefined) return 'rows unknown until ANALYZE'
  return rows === 0 ? 'no rows' : `about ${counted(rounded(rows), 'row')}`
}

/** An estimate of many rows has no exact digits. */
const rounded = (rows: number): number => (rows < 1_000 ? rows : Number(rows.toPrecision(2)))

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

export function sizeText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${Math.round(bytes / 1024 ** step)} ${UNITS[step] ?? ''}`
}
