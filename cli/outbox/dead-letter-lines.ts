import type { DeadLetter } from '../../lib/events/index.js'
import { counted } from '../output/counted.js'
import { terminalLine } from '../output/terminal-line.js'
import { type KeptFlags, outboxCommand } from './outbox-command.js'

/**
 * Formats dead letters.
 * @param limit - the maximum number of lines.
 */
export function deadLetterLines(
  letters: readonly DeadLetter[],
  limit: number,
  flags: KeptFlags,
): readonly string[] {
  if (letters.length === 0) return ['no dead letters']
  const idle = letters.filter(({ isWaiting }) => !isWaiting)
  const cursors = [...new Set(idle.map(({ cursor }) => cursor))]
  return [
    ...letters.map(lineOf),
    ...(letters.length === limit ? [`There may be more: --limit lists more than ${limit}.`] : []),
    ...(idle.length === 0
      ? []
      : ['Dead letters are not retried automatically. Once the cause is fixed, retry them:']),
    ...cursors.map((cursor) => `Next: ${outboxCommand('replay', cursor, flags)}`),
  ]
}

const lineOf = ({ id, cursor, eventId, eventType, givenUpAt, isWaiting, reason }: DeadLetter): string =>
  terminalLine(
    `${id} ${cursor} ${eventType} ${eventId}, became a dead letter at ${givenUpAt.toISOString()}` +
      `${isWaiting ? `, is retried when ${cursor} runs` : ''}: ${reason}`,
  )

/** Formats the result of a retry request. */
export function replayedLines(
  replayed: number,
  cursor: string,
  isRunning: boolean,
  flags: KeptFlags,
): readonly string[] {
  if (replayed === 0) return [`${cursor} has no dead letters`]
  const letters = counted(replayed, 'dead letter')
  const when = isRunning ? 'within seconds' : `when ${cursor} is started: it is not running now`
  return [
    terminalLine(
      `${cursor} retries ${letters} once, ${when}. An event that fails again stays a dead letter.`,
    ),
    `Next: ${outboxCommand('dead-letters', cursor, flags)}`,
  ]
}
