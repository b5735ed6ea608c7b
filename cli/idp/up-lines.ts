import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'
import type { UpReport } from './route-provider.js'

/** Formats the report. */
export function upLines(report: UpReport, paint: Paint): readonly string[] {
  const { state, url, upstream, daemon, previousUpstream = '' } = report
  return [
    `${paint.good(state)} ${paint.bold(url)} → ${upstream} ${paint.dim(`(${daemon})`)}`,
    ...(state === 'moved' ? [`its previous upstream was ${terminalLine(previousUpstream, 200)}`] : []),
    ...(state === 'renewed' ? ['it was already registered; its lease is renewed'] : []),
    `start your identity provider at ${upstream} if it is not running: this command does not start it`,
  ]
}
