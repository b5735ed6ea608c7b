import type { Progress } from '../../lib/migrations/index.js'
import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'

const BETWEEN_REMINDERS_MS = 5_000

/** Turns progress into lines for a person. A wait is reported at its start and then every five seconds. */
export function progressLines(paint: Paint): (event: Progress) => readonly string[] {
  let toldAt = -Infinity
  let told = ''
  let filledAt = 0
  return (event) => {
    switch (event.kind) {
      case 'waiting': {
        const { holder, waitedMs } = event
        const who = /\(.*process (\d+)|connection (\d+)/.exec(holder)?.[0] ?? holder
        if (who === told && waitedMs - toldAt < BETWEEN_REMINDERS_MS) return []
        toldAt = waitedMs
        told = who
        return [`${paint.warn('waiting')} for ${terminalLine(holder)}, which is migrating this database`]
      }
      case 'adopted':
        return [
          `taken over from ${event.from}: ${event.versions.join(', ')}`,
          ...(event.created.length === 0 ? [] : [`created what it lacked: ${event.created.join(', ')}`]),
        ]
      case 'recovering':
        return [`${paint.warn('recovering')} ${event.version}: ${event.text}`]
      case 'file':
        filledAt = 0
        return [
          `${event.direction === 'up' ? 'applying' : 'rolling back'} ${event.version} ${paint.dim(`(${count(event.statements)})`)}`,
        ]
      case 'statement':
        return event.step === 'started' ? [paint.dim(`  ${event.number}/${event.of} ${event.summary}`)] : []
      case 'filled': {
        if (event.ms - filledAt < BETWEEN_REMINDERS_MS) return []
        filledAt = event.ms
        const rate = Math.round((event.rows * 1000) / Math.max(1, event.ms))
        return [paint.dim(`  ${event.rows} rows filled, ${rate} a second`)]
      }
      case 'notice':
        return [`  ${paint.warn(event.severity)}: ${terminalLine(event.text)}`]
      case 'done':
        return [paint.dim(`  done in ${event.ms} ms`)]
    }
  }
}

const count = (statements: number): string => (statements === 1 ? '1 statement' : `${statements} statements`)
