import type { CursorStatus, OutboxStatus } from '../../lib/events/index.js'
import { counted } from '../output/counted.js'
import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'
import { type KeptFlags, outboxCommand } from './outbox-command.js'

/** Formats the status of an outbox. */
export function statusLines(status: OutboxStatus, paint: Paint, flags: KeptFlags): string[] {
  const { cursors } = status
  return [
    eventsLine(status, paint),
    ...cursors.map((cursor) => cursorLine(cursor, paint)),
    ...(cursors.some(({ deadLetters }) => deadLetters > 0)
      ? [`Next: ${outboxCommand('dead-letters', undefined, flags)}`]
      : []),
  ]
}

/**
 * Returns true if a worker processes the events of this outbox. A consumer of a stream processes other
 * events.
 */
const isFollowed = ({ cursors }: OutboxStatus): boolean => cursors.some(({ lag }) => lag !== undefined)

function eventsLine(status: OutboxStatus, paint: Paint): string {
  const { last, kept, unsequenced } = status
  const sofar = `${counted(last + unsequenced, 'event')} so far`
  if (isFollowed(status)) return unsequenced === 0 ? sofar : `${sofar}, ${unsequenced} not sequenced yet`
  const unfollowed = `${sofar}, ${kept} in the outbox; no relay or consumer follows it`
  if (kept === 0) return unfollowed
  return paint.warn(`${unfollowed}, so ${kept === 1 ? 'it waits' : 'they wait'} until one is started`)
}

function cursorLine(
  { name, position, lag, deadLetters, isRunning, lastSeen }: CursorStatus,
  paint: Paint,
): string {
  const todo = lag === undefined ? IN_STREAM : `${counted(lag, 'event')} to process`
  const letters = counted(deadLetters, 'dead letter')
  const seen = lastSeen === undefined ? 'never' : lastSeen.toISOString()
  return [
    `${terminalLine(name)}: at position ${position}`,
    lag === 0 ? paint.good(todo) : lag === undefined ? todo : paint.warn(todo),
    ...(deadLetters === 0 ? [] : [paint.bad(letters)]),
    isRunning ? 'running' : `not running, last seen ${seen}`,
  ].join(', ')
}

/** Explains a missing lag: the command reads the cursor's database but does not connect to NATS. */
const IN_STREAM = 'its lag is in a NATS stream, not in this database'

/** Returns a line for each reason why an outbox exceeds `--max-lag`; none if it does not. */
export function reasonsOf(status: OutboxStatus, most: number): readonly string[] {
  const above = (count: number) => count > most
  const unfollowed =
    !isFollowed(status) && above(status.kept)
      ? [
          `${counted(status.kept, 'event')} to process and no relay or consumer: more than --max-lag ${most}; start one`,
        ]
      : []
  return [
    ...unfollowed,
    ...status.cursors.flatMap(({ name, lag = 0, deadLetters }) => [
      ...(above(lag) ? [`${name} has ${counted(lag, 'event')} to process: more than --max-lag ${most}`] : []),
      ...(deadLetters > 0
        ? [`${name} has ${counted(deadLetters, 'dead letter')}: --max-lag allows none`]
        : []),
    ]),
  ].map((line) => terminalLine(line))
}
