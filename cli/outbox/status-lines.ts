import type { DeadLetter, OutboxStatus } from '../../lib/events/index.js'
import { counted } from '../output/counted.js'
import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'

/** The command has the database of the cursor, and no connection to NATS. */
const IN_STREAM = 'follows a stream of NATS, whose backlog is not in this database'

/** For people. */
export function statusLines({ last, unsequenced, cursors }: OutboxStatus, paint: Paint): string[] {
  return [
    `${counted(last, 'event')} so far, ${unsequenced} not sequenced yet`,
    ...cursors.map(({ name, position, lag, deadLetters, isRunning, lastSeen }) => {
      const behind =
        lag === undefined ? IN_STREAM : lag === 0 ? paint.good('all done') : paint.warn(`${lag} behind`)
      const letters = deadLetters === 0 ? '' : `, ${paint.bad(counted(deadLetters, 'dead letter'))}`
      const seen = lastSeen === undefined ? 'never run' : `last seen ${lastSeen.toISOString()}`
      return `${terminalLine(name)}: at ${position}, ${behind}${letters}, ${isRunning ? 'running' : seen}`
    }),
  ]
}

export const deadLetterLines = (letters: readonly DeadLetter[]): string[] =>
  letters.length === 0
    ? ['no dead letters']
    : letters.map(({ id, cursor, eventId, eventType, reason }) =>
        terminalLine(`${id} ${cursor} ${eventType} ${eventId}: ${reason}`),
      )
