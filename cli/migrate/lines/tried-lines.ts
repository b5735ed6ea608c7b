import type { TriedVersion } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'
import { tableText } from './plan-lines.js'

/** How each version went, and what others noticed of it. */
export const triedLines = (versions: readonly TriedVersion[], paint: Paint): readonly string[] =>
  versions.flatMap(({ name, ms, longestReadMs, longestWriteMs, locks, failures, rewritten }) => [
    `${paint.bold(name)}: ${ms} ms`,
    ...(longestReadMs === undefined ? [] : [`  longest read beside it ${longestReadMs} ms`]),
    ...(longestWriteMs === undefined ? [] : [`  longest write beside it ${longestWriteMs} ms`]),
    ...locks.map((lock) => `  held ${lock}`),
    ...failures.map((failure) => `  ${paint.warn(terminalLine(failure))}`),
    ...rewritten.map((table) => `  ${paint.warn('rewrote')} ${tableText(table)}`),
  ])
