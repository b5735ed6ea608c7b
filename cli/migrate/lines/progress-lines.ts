import { type Progress, recoveryText } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'

const BETWEEN_REMINDERS_MS = 5_000

/**
 * Returns a function that formats progress. A wait is reported when it starts and then every five seconds.
 */
export function progressLines(paint: Paint): (event: Progress) => readonly string[] {
  let reportedAt = -Infinity
  let reported: number | undefined
  let filledAt = 0
  let ranAt = 0
  let ranText = ''
  return (event) => {
    switch (event.kind) {
      case 'waiting': {
        const { holder, session, waitedMs } = event
        if (session === reported && waitedMs - reportedAt < BETWEEN_REMINDERS_MS) return []
        reportedAt = waitedMs
        reported = session
        return [`${paint.warn('waiting')} for ${terminalLine(holder)}, which is migrating this database`]
      }
      case 'adopted':
        return [
          `taken over from ${event.from}: ${event.versions.join(', ')}`,
          ...(event.created.length === 0 ? [] : [`created what was missing: ${event.created.join(', ')}`]),
        ]
      case 'recorded':
        return [`recorded ${event.version} without running it: ${terminalLine(recordedText(event))}`]
      case 'recovering':
        ranAt = 0
        ranText = ''
        return [`${paint.warn('recovering')} ${event.version}: ${recoveryText(event.how)}`]
      case 'file':
        filledAt = 0
        return [
          `${event.direction === 'up' ? 'applying' : 'rolling back'} ${event.version} ${paint.dim(`(${count(event.statements)})`)}`,
        ]
      case 'statement':
        ranAt = 0
        ranText = ''
        return event.step === 'started' ? [paint.dim(`  ${event.number}/${event.of} ${event.summary}`)] : []
      case 'running': {
        const text = event.waitsFor === undefined ? (event.phase ?? '') : `waits for ${event.waitsFor}`
        if (event.ms - ranAt < BETWEEN_REMINDERS_MS && text === ranText) return []
        ranAt = event.ms
        ranText = text
        const what = text === '' ? '' : `: ${terminalLine(text)}`
        return [paint.dim(`  running for ${Math.round(event.ms / 1000)} s${what}`)]
      }
      case 'filled': {
        if (event.ms - filledAt < BETWEEN_REMINDERS_MS) return []
        filledAt = event.ms
        return [paint.dim(`  ${filledText(event)}`)]
      }
      case 'notice':
        return [`  ${paint.warn(event.severity)}: ${terminalLine(event.text)}`]
      case 'done':
        return [paint.dim(`  done in ${event.ms} ms`)]
    }
  }
}

/** Explains why a search migration need not or cannot run. */
function recordedText({ because, needless }: Extract<Progress, { readonly kind: 'recorded' }>): string {
  const why =
    because === 'vectorNotMade' ? 'the vector before it was not created' : 'what it reads no longer exists'
  return 'replacedBy' in needless
    ? `${why}, and ${needless.replacedBy} replaces it`
    : `${why}, and ${needless.tableDroppedBy} drops its table`
}

/** Formats the progress of a backfill. The rate is omitted in the first second, when it is not meaningful. */
function filledText({
  walked,
  of,
  rate,
  pauseMs,
  ms,
}: Extract<Progress, { readonly kind: 'filled' }>): string {
  // The total is the server's estimate, so the table may have more rows.
  const isCounted = of !== undefined && of > 0 && of >= walked
  const total = isCounted ? ` of about ${of}` : ''
  const share = isCounted ? ` (${Math.floor((walked * 100) / of)} %)` : ''
  const slow = pauseMs === 0 ? '' : `; chunks are slow: pausing for ${pauseMs} ms`
  const speed = ms < 1_000 ? '' : `, ${rate} a second`
  return `${walked}${total} rows${share}${speed}${slow}`
}

function count(statements: number): string {
  if (statements === 0) return 'no statement: its changes stay'
  return statements === 1 ? '1 statement' : `${statements} statements`
}
