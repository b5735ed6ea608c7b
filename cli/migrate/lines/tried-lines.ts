import type { PlannedVersion, TriedVersion } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'
import { namesText } from './names-text.js'
import { nextLine } from './next-line.js'
import { tableText } from './plan-lines.js'

/** How a version went, and what others noticed of it. */
export function triedLines(version: TriedVersion, paint: Paint): readonly string[] {
  const { name, isApplied, filled, ms, longestReadMs, longestWriteMs, locks, failures, rewritten } = version
  return [
    `${paint.bold(name)}: ${isApplied ? `applied in ${ms} ms${filled === undefined ? '' : `, ${filled} rows written`}` : paint.bad(`failed after ${ms} ms`)}`,
    ...(longestReadMs === undefined ? [] : [`  longest read beside it: ${longestReadMs} ms`]),
    ...(longestWriteMs === undefined ? [] : [`  longest write beside it: ${longestWriteMs} ms`]),
    ...(locks ?? []).map((lock) => `  held ${lock}`),
    ...failures.map((failure) => `  ${paint.warn(terminalLine(failure))}`),
    ...(isApplied && rewritten?.length === 0 && longestReadMs !== undefined ? ['  rewrote no table'] : []),
    ...(rewritten ?? []).map((table) => `  ${paint.warn('rewrote')} ${tableText(table)}`),
  ]
}

const UNMEASURED: Readonly<Record<NonNullable<TriedVersion['unmeasured']>, string>> = {
  chunks: 'a backfill commits after each chunk',
  outside: 'a file that runs outside of a transaction holds none when it ends',
  server: 'only PostgreSQL tells them',
}

/** What of the versions was not measured, and where it is: in the order of the versions. */
export function unmeasuredLines(versions: readonly TriedVersion[]): readonly string[] {
  const applied = versions.filter(({ isApplied }) => isApplied)
  const isProbed = versions.some(({ longestReadMs }) => longestReadMs !== undefined)
  const reasons = [...new Set(applied.flatMap(({ unmeasured }) => unmeasured ?? []))]
  const rewritten = namesText(
    applied.filter((version) => version.rewritten === undefined).map(({ name }) => name),
  )
  return [
    ...(isProbed || applied.length === 0
      ? []
      : ['nothing was read or written beside it: no table of these versions was there before']),
    ...reasons.map((reason) => {
      const names = applied.filter(({ unmeasured }) => unmeasured === reason).map(({ name }) => name)
      return `locks were not measured for ${namesText(names)}: ${UNMEASURED[reason]}`
    }),
    ...(rewritten === ''
      ? []
      : [
          `whether ${rewritten} rewrote a table was not measured: MySQL tells it a user with the privilege PROCESS`,
        ]),
  ]
}

/** What comes after a trial of these versions. Some may take values away, or break the code that runs now, which a copy does not show. */
export function nextOfTried(planned: readonly PlannedVersion[]): string {
  const first = planned.findIndex(({ statements }) =>
    statements.some(({ loses, breaks }) => loses.length > 0 || breaks !== undefined),
  )
  if (first < 0) return nextLine(['up'], 'on the database itself')
  const breaking = planned[first]?.name ?? ''
  const before = planned[first - 1]?.name
  const up =
    before === undefined
      ? 'then ashlar migrate up on the database itself, once no process with the older code runs'
      : `then on the database itself ashlar migrate up --to ${Number(before.slice(0, 4))}. Ship ${breaking} in a later release, once no process with the older code runs: the up of an image that has it applies it`
  return nextLine(['plan'], `which says what ${breaking} takes away or breaks; ${up}`)
}
