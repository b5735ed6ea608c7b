import type { SecurityReport } from '../../lib/testing/index.js'
import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'

/** Returns a note with the file for options that have no flag. */
export const optionNotes = ({ notChecked }: SecurityReport): readonly string[] =>
  notChecked.length === 0
    ? []
    : [
        'samples, requests, leaveOut and accept are options of securityCheck of ashlar/testing, which you call in a test',
      ]

/** Formats a report: findings by method, skipped parts, and totals. */
export function reportLines(
  { findings, accepted, notChecked, methods, calls, passed }: SecurityReport,
  paint: Paint,
): string[] {
  const sum = `${methods} methods, ${calls} calls`
  return [
    ...findings.flatMap(({ check, method, transport, text }) => [
      `${paint.bad(check)} ${method === '' ? 'the service' : method}${transport === '' ? '' : ` (${transport})`}`,
      `  ${terminalLine(text, 1_000)}`,
    ]),
    ...accepted.map(
      ({ method, text, reason }) =>
        `${paint.warn('accepted')} ${method}: ${terminalLine(`${text} (${reason})`, 1_000)}`,
    ),
    ...notChecked.map(
      ({ method, reason }) => `${paint.warn('not checked')} ${method}: ${terminalLine(reason, 1_000)}`,
    ),
    passed ? `${paint.good('passed')}: ${sum}` : `${paint.bad(`${findings.length} finding(s)`)}: ${sum}`,
  ]
}
