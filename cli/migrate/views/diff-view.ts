import { fillText, type TableDifference, tableDifferenceText } from '../../../lib/text/table-difference.js'
import { nextLine, type Style } from '../lines/line-style.js'
import type { SchemaVersions } from '../schema-versions.js'

interface ComparedFlags {
  readonly contract: boolean
  readonly entities: string
  readonly live: boolean
}

/** The result of a comparison and the written files. */
export type Compared = Omit<SchemaVersions, 'dialect' | 'versions' | 'isOfFiles'> & {
  readonly files: readonly string[]
}

const ONCE_ALONE = 'once no process with the older code runs'

/** Formats the written files, the remaining differences and the next step. */
export function diffLines(compared: Compared, flags: ComparedFlags, style: Style): readonly string[] {
  const { files, left, byHand, drift } = compared
  if (drift.length > 0) return driftLines(compared, flags, style)
  const { contract, entities, live } = flags
  const { paint } = style
  const isLeft = !contract && left.length > 0
  const options = { entities, ...(live && { live: true as const }), contract: true as const }
  return [
    ...files.map((file) => `${paint.good('written')} ${file}`),
    ...(files.length > 0 ? [] : [nothingText(compared, flags, style)]),
    ...(contract && files.length > 0 ? [paint.warn(OF_ITS_OWN)] : []),
    ...fillLines(compared, style),
    ...(isLeft ? [paint.warn('left for the contract:'), ...left.map((one) => shownLine(one, style))] : []),
    ...byHandLines(byHand, style),
    ...(files.length > 0 ? [nextLine(style, { command: 'migrate plan' }, contract ? ONCE_ALONE : '')] : []),
    ...(files.length === 0 && isLeft
      ? [nextLine(style, { command: 'migrate diff', args: ['NAME'], options }, ONCE_ALONE)]
      : []),
  ]
}

/** Formats the differences between a live database and its files, with advice. */
function driftLines(compared: Compared, { entities }: ComparedFlags, style: Style): readonly string[] {
  const { drift, bringsBack, byHand } = compared
  const { paint, command } = style
  return [
    paint.bad(DRIFTS),
    ...drift.map(({ text }) => text),
    ...fillLines(compared, style),
    ...(bringsBack.length === 0 ? [] : [paint.warn(BRINGS_BACK), ...bringsBack]),
    ...byHandLines(byHand, style),
    `If this database is right as it is, write the difference into a file instead, and record it here with ${command('migrate resolve', { applied: true })}.`,
    nextLine(
      style,
      { command: 'migrate diff', args: ['NAME'], options: { entities, live: true } },
      'again, until it finds no such difference',
    ),
  ]
}

const fillLines = ({ fill }: Compared, { paint, command }: Style): readonly string[] =>
  fill.length === 0
    ? []
    : [
        paint.warn(FILL_FIRST),
        ...fill.map((one) => `${one.table}.${one.column}: ${fillText(one.fill, command)}`),
      ]

const byHandLines = (byHand: readonly TableDifference[], style: Style): readonly string[] =>
  byHand.length === 0
    ? []
    : [style.paint.warn('to do manually:'), ...byHand.map((one) => shownLine(one, style))]

/** Formats a difference. The files are known, because they were compared. */
const shownLine = (difference: TableDifference, { command }: Pick<Style, 'command'>): string =>
  tableDifferenceText(difference, true, command)

function nothingText(
  { left, byHand }: Compared,
  { contract, live }: ComparedFlags,
  { command }: Style,
): string {
  const notLive = `(the live database is not compared: ${command('migrate verify', { entities: true })} compares it, and ${command('migrate diff', { live: true }, 'NAME')} prints how to make it match the files)`
  if (byHand.length > 0) return 'nothing is written: no file is generated for these differences'
  if (contract)
    return live
      ? 'nothing is written: nothing is left for the contract'
      : `nothing is written: the files leave nothing for the contract ${notLive}`
  if (left.length > 0)
    return `nothing is written: all that the ${live ? 'database lacks' : 'files lack'} is left for the contract`
  return live
    ? 'nothing is written: the database has what the entities need'
    : `nothing is written: the files create what the entities need ${notLive}`
}

/** Returns the note about a database that another comparison left on the server. */
export const leftoverText = (database: string): string =>
  `the database ${database} belongs to another comparison: drop it, unless that comparison is still running`

const FILL_FIRST = 'fill these columns first, because NOT NULL fails if a row has no value:'
const DRIFTS =
  'nothing is written: this database differs from what the files create, and a migration for that would fail in every other database:'
const BRINGS_BACK = 'review these statements, and run them manually in this database only, to restore it:'
const OF_ITS_OWN =
  'deploy the contract separately: apply it when the expanding changes are applied and no process with the older code runs; a pending backfill runs before it, in the same up'
