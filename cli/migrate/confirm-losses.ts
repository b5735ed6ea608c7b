import type { RollBack } from '../../lib/migrations/index.js'
import { Failure } from '../errors/failure.js'
import { terminalLine } from '../output/terminal-line.js'
import { confirmed } from '../output/confirmed.js'

/**
 * Asks before versions are rolled back whose way down loses values, and lists these.
 * @throws {Failure} when the person says no, or nobody can be asked.
 */
export async function confirmLosses(rollBacks: readonly RollBack[]): Promise<void> {
  const losses = rollBacks.filter(({ loses }) => loses.length > 0)
  if (losses.length === 0) return
  const text = terminalLine(losses.map(({ name, loses }) => `${name} loses ${loses.join(', ')}`).join('; '))
  if (!(await confirmed(`${text}. What is in there is gone for good.`)))
    throw new Failure('differs', 'nothing is rolled back')
}
