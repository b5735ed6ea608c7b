import type { CursorStatus, OutboxStatus } from '../../lib/events/index.js'
import { Failure } from '../errors/failure.js'
import { counted } from '../output/counted.js'
import { terminalLine } from '../output/terminal-line.js'
import { cursorIn } from './cursor-in.js'

/** A cursor to delete. */
export interface Forgettable {
  /** The confirmation before it is deleted. */
  readonly question: string
  /** The message afterwards. */
  readonly done: string
}

/** @throws {Failure} if no relay or consumer has the name, or if one is running. */
export function forgettable(status: OutboxStatus, name: string): Forgettable {
  const cursor = cursorIn(status, name)
  const { isRunning, lag, deadLetters } = cursor
  if (isRunning)
    throw new Failure('input', terminalLine(`${name} is running, so nothing is forgotten: ${ENDED}`))
  const todo = lag === undefined ? 'follows a NATS stream' : `has ${counted(lag, 'event')} to process`
  const letters =
    deadLetters === 0
      ? ''
      : `, and ${counted(deadLetters, 'dead letter')} that ${deadLetters === 1 ? 'is' : 'are'} removed`
  const begins = beginningOf(status, cursor)
  return {
    question: terminalLine(
      `${name} is not running and ${todo}${letters}. Its position is forgotten. ${begins}`,
    ),
    done: terminalLine(
      `${name} is forgotten${letters === '' ? '' : `, with ${counted(deadLetters, 'dead letter')}`}. ${begins}`,
    ),
  }
}

/** Describes the position at which a new worker of that name would begin. */
function beginningOf({ kept }: OutboxStatus, { lag }: CursorStatus): string {
  if (lag === undefined)
    return `${AGAIN} the oldest event of its stream, and processes it and later events again.`
  if (kept === 0) return `${AGAIN} the next event, because the outbox is empty now.`
  const events = kept === 1 ? 'the one event' : `the oldest of the ${kept} events`
  return `${AGAIN} ${events} in the outbox, and processes what it already processed again.`
}

/** Advice for a running worker, which is known only by its lease. */
const ENDED =
  'stop the processes that run it first. A killed one counts as running until its lease expires (15 seconds by default)'

const AGAIN = 'If it is started again, it begins with'
