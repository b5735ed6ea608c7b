import {
  type Difference,
  differenceText,
  type TableDifference,
  type TableNote,
  type VersionStatus,
} from '../../../lib/migrations/index.js'
import { isContract, tableNoteText } from '../../../lib/text/table-difference.js'
import { missingAmong } from '../lines/missing-versions.js'
import { namesText } from '../lines/names-text.js'
import { nextLine, type Style } from '../lines/line-style.js'
import type { Elsewhere } from '../other-schemas.js'

/** The result of `verify`. */
export interface Verified {
  readonly differences: readonly (Difference | TableDifference)[]
  readonly versions: readonly VersionStatus[]
  /** Tables and columns that are missing although an applied or recorded migration creates them. */
  readonly removed: readonly Removed[]
  /** The module of the entities; undefined if the tables were not compared. */
  readonly entities: string | undefined
  readonly elsewhere: Elsewhere | undefined
  /** Permitted differences of other applications' tables. */
  readonly notes: readonly TableNote[]
}

export interface Removed {
  readonly difference: TableDifference
  /** The migration that creates it. `isRecorded` is true if it was only recorded as applied. */
  readonly version: string
  readonly isRecorded: boolean
}

const isOfTable = (difference: Difference | TableDifference): difference is TableDifference =>
  'text' in difference

export function verifyLines(verified: Omit<Verified, 'notes'>, style: Style): readonly string[] {
  const { differences, removed, entities, elsewhere } = verified
  const left = leftIn(verified)
  const others = differences.filter((one) => !left.some((other) => other === one))
  const lineOf = (difference: Difference | TableDifference): string => {
    const found = removed.find((one) => one.difference === difference)
    if (found !== undefined) return removedText(found, style)
    return differenceText(
      difference.kind === 'pending' && elsewhere !== undefined && !isOfTable(difference)
        ? { ...difference, mayBeElsewhere: true }
        : difference,
      style.command,
    )
  }
  const equal =
    entities === undefined
      ? 'every migration is applied, and none was edited since; --entities also compares the tables'
      : 'the migrations match the files, and the tables match the entities'
  const heading = others.length === 0 ? ONLY_LEFT : LEFT
  return [
    ...(differences.length === 0 ? [style.paint.good(equal)] : others.map(lineOf)),
    ...(left.length === 0 ? [] : [style.paint.warn(heading), ...left.map(lineOf)]),
    ...(elsewhere === undefined
      ? nextLines(verified, style)
      : [nextLine(style, elsewhere.next, `unless you mean ${elsewhere.here}`)]),
  ]
}

/** Returns the differences that the contract phase resolves, except objects that a migration creates. */
export const leftIn = ({ differences, removed }: Pick<Verified, 'differences' | 'removed'>) =>
  differences.filter(
    (one): one is TableDifference =>
      isOfTable(one) && isContract(one) && !removed.some(({ difference }) => difference === one),
  )

/** Returns notes on migrations whose applied content is unknown, and on tables of other applications. */
export function verifyNotes({ versions, notes }: Pick<Verified, 'versions' | 'notes'>): readonly string[] {
  const unchecked = versions.filter(({ isChecked }) => !isChecked).map(({ name }) => name)
  const unseen =
    unchecked.length === 0
      ? []
      : [`another tool applied ${unchecked.join(', ')}: edits to its file since then cannot be detected`]
  return [...unseen, ...notes.map(tableNoteText)]
}

const ONLY_LEFT = 'the only differences are left for the contract:'
const LEFT = 'left for the contract:'

function removedText({ difference, version, isRecorded }: Removed, { command }: Style): string {
  const live = command('migrate diff', { live: true }, 'NAME')
  return isRecorded
    ? `${difference.text}, although ${version} creates it: that migration is only recorded as applied; its file has not run successfully here. ${live} prints how to create it manually`
    : `${difference.text}, although ${version} creates it and is applied: it was removed manually, or by a later migration. If it was removed manually, ${live} prints how to restore it`
}

/** Returns the advice for tables that differ. A missing migration may be the reason. */
function nextLines(
  { differences, versions, removed, entities = 'MODULE' }: Omit<Verified, 'notes'>,
  style: Style,
): readonly string[] {
  const ofTables = differences.filter(isOfTable)
  if (ofTables.length === 0) return []
  const missing = missingAmong(versions)
  if (missing.length > 0)
    return [
      nextLine(
        style,
        { command: 'migrate up' },
        `and then verify again: ${namesText(missing)} may resolve the differences in the tables`,
      ),
    ]
  const diff = (flag?: 'live' | 'contract') => ({
    command: 'migrate diff',
    args: ['NAME'],
    options: { entities, ...(flag !== undefined && { [flag]: true as const }) },
  })
  if (removed.length > 0) return [nextLine(style, diff('live'), 'which prints how to restore this database')]
  return ofTables.every(isContract)
    ? [nextLine(style, diff('contract'), 'once no process with the older code runs')]
    : [nextLine(style, diff(), BY_HAND)]
}

const BY_HAND =
  'which writes or names the next step; if it does neither, the database was changed manually: with --live it prints how to restore it'
