import type { PlannedVersion, TriedVersion } from '../../../lib/migrations/index.js'
import { terminalLine } from '../../output/terminal-line.js'
import { namesText } from '../lines/names-text.js'
import { tableText } from '../lines/sizes.js'
import { nextLine, type Style } from '../lines/line-style.js'

/** @param applies - the actions on the copy. */
export const dryRunQuestion = (applies: string): string => `This ${applies} to it, so it must be a copy.`

/** Formats the result of a migration and its effect on other clients. */
export function triedLines(version: TriedVersion, { paint }: Style): readonly string[] {
  const { name, isApplied, filled, ms, longestReadMs, longestWriteMs, locks, failures, rewritten } = version
  return [
    `${paint.bold(name)}: ${isApplied ? `applied in ${ms} ms${filled === undefined ? '' : `, ${filled} rows written`}` : paint.bad(`failed after ${ms} ms`)}`,
    ...(longestReadMs === undefined ? [] : [`  longest read beside it: ${longestReadMs} ms`]),
    ...(longestWriteMs === undefined ? [] : [`  longest write beside it: ${longestWriteMs} ms`]),
    ...(locks ?? []).map((lock) => `  held ${lock}`),
    ...failures.map(
      ({ table, access, why }) => `  ${paint.warn(terminalLine(`can no longer ${access} ${table}: ${why}`))}`,
    ),
    ...(isApplied && rewritten?.length === 0 && longestReadMs !== undefined ? ['  rewrote no table'] : []),
    ...(rewritten ?? []).map((table) => `  ${paint.warn('rewrote')} ${tableText(table)}`),
  ]
}

const UNMEASURED: Readonly<Record<NonNullable<TriedVersion['unmeasured']>, string>> = {
  chunks: 'a backfill commits after each chunk',
  outside: 'a file that runs outside a transaction holds none when it ends',
  server: 'only PostgreSQL reports them',
}

/** Returns the migrations that were not measured, with the reasons, in order. */
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
      : ['nothing was read or written during it: none of these migrations’ tables existed before']),
    ...reasons.map((reason) => {
      const names = applied.filter(({ unmeasured }) => unmeasured === reason).map(({ name }) => name)
      return `locks were not measured for ${namesText(names)}: ${UNMEASURED[reason]}`
    }),
    ...(rewritten === ''
      ? []
      : [
          `whether ${rewritten} rewrote a table was not measured: MySQL reports it only to users with the privilege PROCESS`,
        ]),
  ]
}

/**
 * Returns the next step after a trial. Some migrations may remove values or break running code, which a copy
 * does not show.
 */
export function nextOfTried(planned: readonly PlannedVersion[], style: Style): string {
  const first = planned.findIndex(({ statements }) =>
    statements.some(({ loses, breaks }) => loses.length > 0 || breaks !== undefined),
  )
  if (first < 0) return nextLine(style, { command: 'migrate up' }, 'on the database itself')
  const breaking = planned[first]?.name ?? ''
  const before = planned[first - 1]?.version
  const up =
    before === undefined
      ? `then ${style.command('migrate up')} on the database itself, once no process with the older code runs`
      : `then on the database itself ${style.command('migrate up', { to: before })}. Deploy ${breaking} in a later release, once no process with the older code runs: the image of that release applies it`
  return nextLine(
    style,
    { command: 'migrate plan' },
    `which prints what ${breaking} removes or breaks; ${up}`,
  )
}
