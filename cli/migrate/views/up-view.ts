import type { CommandLine, PlannedVersion, UpResult, VersionStatus } from '../../../lib/migrations/index.js'
import { nothingText } from '../lines/missing-versions.js'
import { namesText } from '../lines/names-text.js'
import { isThere, lossesText } from '../lines/sizes.js'
import { nextUpLines, type Style } from '../lines/line-style.js'
import { dirtyWayOut, dirtyText } from './status-view.js'

/** The result of `up`. */
export interface Upped {
  readonly result: UpResult
  /** Undefined for all migrations. */
  readonly to: number | undefined
  /** The migrations that the next `up` applies. */
  readonly next: readonly string[]
}

export const upLines = ({ result, to, next }: Upped, style: Style): readonly string[] => [
  ...appliedLines(result, style),
  ...(result.applied.length + (result.recorded ?? []).length === 0 ? [nothingLine(result, to, style)] : []),
  ...result.ahead.map(
    (name) =>
      `${name} is applied and stays; these files do not have it: a newer release applied it, or its file was removed`,
  ),
  ...nextUpLines(style, next),
]

/**
 * Returns a line for each migration that was applied, with the rows that a backfill wrote, or recorded
 * without running it.
 */
export function appliedLines(
  { applied, recorded = [], filled = [] }: Pick<UpResult, 'applied' | 'recorded' | 'filled'>,
  { paint }: Style,
): readonly string[] {
  const rowsOf = new Map(filled.map(({ version, ...counts }) => [version, counts]))
  return [...applied, ...recorded].sort().map((name) => {
    if (recorded.includes(name)) return `${paint.good('recorded')} ${name}, which did not have to run`
    const counts = rowsOf.get(name)
    return `${paint.good('applied')} ${name}${counts === undefined ? '' : `: ${writtenText(counts)}`}`
  })
}

const writtenText = ({ rows, earlier }: { readonly rows: number; readonly earlier: number }): string =>
  earlier === 0 ? `${rows} rows written` : `${rows - earlier} rows written, and ${earlier} by earlier runs`

function nothingLine({ ahead, dirty }: UpResult, to: number | undefined, { command }: Style): string {
  const nothing = dirty === undefined ? 'nothing to do' : 'nothing is applied'
  if (to !== undefined) return `${nothing}: the schema has every migration up to ${to}`
  if (dirty !== undefined && ahead.length === 0)
    return `${nothing}: the database has every migration of these files`
  const versions = ahead.map((name) => ({ name, state: 'ahead' as const, isMissing: false }))
  return nothingText(versions, command, nothing)
}

/** Returns the advice for failed migrations without files. */
export const dirtyFailure = (
  dirty: readonly string[],
  states: readonly VersionStatus[],
  command: CommandLine,
): string =>
  dirty
    .map((name) => {
      const version = states.find((one) => one.name === name)
      const why = version === undefined ? '' : dirtyText(version)
      const out = `${name} is dirty: these files do not have it; ${dirtyWayOut(version, command)}`
      return `${out}${why === '' ? '' : `. What is known: ${why}`}`
    })
    .join('; ')

/**
 * Returns the confirmation before `up` completes interrupted rollbacks; undefined if they lose no more data.
 */
export function finishQuestion(versions: readonly PlannedVersion[]): string | undefined {
  const losing = versions.flatMap(({ name, rollBack }) => {
    const losses = (rollBack?.statements ?? []).flatMap(({ loses }) => loses).filter(isThere)
    return losses.length === 0 ? [] : [{ name, text: lossesText(losses) }]
  })
  if (losing.length === 0) return undefined
  return `This first finishes the rollback of ${namesText(losing.map(({ name }) => name))}, which stopped. The following values are permanently lost: ${losing.map(({ name, text }) => `${name} loses ${text}`).join('; ')}.`
}
