import type { TriedVersion } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'
import { namesText } from './names-text.js'
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

/** What of the versions was not measured, and where it is. */
export function unmeasuredLines(versions: readonly TriedVersion[]): readonly string[] {
  const applied = versions.filter(({ isApplied }) => isApplied)
  const without = (key: 'locks' | 'rewritten', isMeant = (_: TriedVersion) => true) =>
    namesText(
      applied.filter((version) => version[key] === undefined && isMeant(version)).map(({ name }) => name),
    )
  const backfills = without('locks', ({ chunk }) => chunk !== undefined)
  const locks = without('locks', ({ chunk }) => chunk === undefined)
  const rewritten = without('rewritten')
  const isProbed = versions.some(({ longestReadMs }) => longestReadMs !== undefined)
  return [
    ...(isProbed || applied.length === 0
      ? []
      : ['nothing was read or written beside it: no table of these versions was there before']),
    ...(backfills === ''
      ? []
      : [`locks were not measured for ${backfills}: a backfill commits after each chunk`]),
    ...(locks === ''
      ? []
      : [
          `locks were not measured for ${locks}: only PostgreSQL tells them, of files that run in a transaction`,
        ]),
    ...(rewritten === ''
      ? []
      : [
          `whether ${rewritten} rewrote a table was not measured: MySQL tells it a user with the privilege PROCESS`,
        ]),
  ]
}
