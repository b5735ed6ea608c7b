import type { TriedVersion } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'
import { tableText } from './plan-lines.js'

/** How a version went, and what others noticed of it. */
export function triedLines(version: TriedVersion, paint: Paint): readonly string[] {
  const { name, isApplied, ms, longestReadMs, longestWriteMs, locks, failures, rewritten } = version
  return [
    `${paint.bold(name)}: ${isApplied ? `${ms} ms` : paint.bad(`failed after ${ms} ms`)}`,
    ...(longestReadMs === undefined ? [] : [`  longest read beside it ${longestReadMs} ms`]),
    ...(longestWriteMs === undefined ? [] : [`  longest write beside it ${longestWriteMs} ms`]),
    ...locks.map((lock) => `  held ${lock}`),
    ...failures.map((failure) => `  ${paint.warn(terminalLine(failure))}`),
    ...rewritten.map((table) => `  ${paint.warn('rewrote')} ${tableText(table)}`),
  ]
}
