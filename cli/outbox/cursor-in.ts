import type { CursorStatus, OutboxStatus } from '../../lib/events/index.js'
import { Failure } from '../errors/failure.js'
import { terminalLine } from '../output/terminal-line.js'

/** @throws {Failure} if no relay or consumer has that name. */
export function cursorIn({ cursors }: OutboxStatus, name: string): CursorStatus {
  const found = cursors.find((one) => one.name === name)
  if (found !== undefined) return found
  const known = cursors.map((one) => one.name).join(', ')
  const names = known === '' ? 'none exists' : `--cursor takes ${known}`
  throw new Failure('input', terminalLine(`there is no relay or consumer named ${name} here: ${names}`))
}
