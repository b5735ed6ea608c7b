import type { Loss, RollBack } from '../../lib/migrations/index.js'
import { Failure } from '../errors/failure.js'
import { terminalLine } from '../output/terminal-line.js'
import { confirmed } from '../output/confirmed.js'
import { rowsText, sizeText } from './lines/plan-lines.js'

/**
 * Asks before versions are rolled back whose way down loses values, and lists these.
 * @param everything - what is said of the framework's own versions, where these are rolled back as well.
 * @throws {Failure} when the person says no, or nobody can be asked.
 */
export async function confirmLosses(rollBacks: readonly RollBack[], everything?: string): Promise<void> {
  const losses = rollBacks
    .filter(({ isFramework, loses }) => loses.length > 0 && (everything === undefined || !isFramework))
    .map(({ name, loses }) => `${name} loses ${loses.map(lossText).join(', ')}`)
  const text = [
    ...(everything === undefined ? [] : [everything]),
    ...(losses.length === 0 ? [] : [`${losses.join('; ')}. What is in there is gone for good.`]),
  ].join(' ')
  if (text !== '' && !(await confirmed(terminalLine(text))))
    throw new Failure('differs', 'nothing is rolled back')
}

/** `table tasks (about 1200 rows, 64 KiB)`; of a column, only the rows of its table are known. */
function lossText({ what, name, table, size }: Loss): string {
  const text =
    what === 'rows'
      ? `rows of ${name || 'a table'}`
      : `${what} ${name}${what === 'column' ? ` of ${table ?? ''}` : ''}`
  if (size === undefined) return text
  const isWhole = what === 'table'
  if (!isWhole && size.rows === undefined) return text
  return `${text} (${[rowsText(size), ...(isWhole ? [sizeText(size.bytes)] : [])].join(', ')})`
}
