import type { OutboxStatus } from '../../lib/events/index.js'
import { Failure } from '../errors/failure.js'
import { counted } from '../output/counted.js'
import { terminalLine } from '../output/terminal-line.js'
import { cursorIn } from './cursor-in.js'

/**
 * What is asked before a cursor is removed.
 * @throws {Failure} where there is none, or somebody works under its name.
 */
export function forgettable(status: OutboxStatus, name: string): string {
  const { isRunning, lag, deadLetters } = cursorIn(status, name)
  if (isRunning) throw new Failure('input', `${name} is running: end it first`)
  const todo =
    lag === undefined ? 'follows a stream of NATS, and has' : `has ${counted(lag, 'event')} to do and`
  const letters = counted(deadLetters, 'dead letter')
  return terminalLine(`${name} ${todo} ${letters}. It is forgotten with its dead letters.`)
}
