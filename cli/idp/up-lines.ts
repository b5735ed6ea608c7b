import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'
import type { UpReport } from './route-provider.js'

/** The report as lines for a person. */
export function upLines(report: UpReport, paint: Paint): readonly string[] {
  const { state, url, upstream, daemon, previousUpstream = '' } = report
  return [
    `${paint.good(state)} ${paint.bold(url)} → ${upstream} ${paint.dim(`(${daemon})`)}`,
    ...(state === 'moved' ? [`it led to ${terminalLine(previousUpstream, 200)} before`] : []),
    ...(state === 'renewed' ? ['it was registered already; its lease is renewed'] : []),
    `start your identity provider at ${upstream} if it is not running: this command does not`,
  ]
}
