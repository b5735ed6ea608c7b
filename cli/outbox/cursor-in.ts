import type { CursorStatus, OutboxStatus } from '../../lib/events/index.js'
import { Failure } from '../errors/failure.js'
import { terminalLine } from '../output/terminal-line.js'

/** @throws {Failure} where there is no cursor of that name. */
export function cursorIn({ cursors }: OutboxStatus, name: string): CursorStatus {
  const found = cursors.find((one) => one.name === name)
  if (found !== undefined) return found
  const known = cursors.map((one) => one.name).join(', ')
  throw new Failure(
    'input',
    terminalLine(`${name} has no cursor: there ${known === '' ? 'is none' : `are ${known}`}`),
  )
}
