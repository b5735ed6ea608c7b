import type { OutboxStatus } from '../../lib/events/index.js'
import { Failure } from '../errors/failure.js'
import { terminalLine } from '../output/terminal-line.js'

/**
 * What is asked before a cursor is removed.
 * @throws {Failure} where there is none, or somebody works under its name.
 */
export function forgettable({ cursors }: OutboxStatus, name: string): string {
  const found = cursors.find((one) => one.name === name)
  if (found === undefined) {
    const known = cursors.map((one) => one.name).join(', ')
    throw new Failure('input', `${name} has no cursor: there ${known === '' ? 'is none' : `are ${known}`}`)
  }
  if (found.isRunning) throw new Failure('input', `${name} is running: end it first`)
  const { lag, deadLetters } = found
  const todo = lag === undefined ? 'follows a stream of NATS, and has' : `has ${lag} events to do and`
  return terminalLine(`${name} ${todo} ${deadLetters} dead letters. It is forgotten, and so are they.`)
}
