import type { RewrapProgress } from '../../lib/persistence/index.js'
import { shellWord } from '../../lib/text/shell-word.js'
import { counted } from '../output/counted.js'
import type { Paint } from '../output/paint.js'
import type { RewrapFlags, RewrappedResource } from './rewrap-resources.js'

/** Formats the progress for stderr, after each page. */
export const progressLine = (type: string, { rows, rewrapped }: RewrapProgress): string =>
  `${type}: ${counted(rows, 'row')}, ${counted(rewrapped, 'secret')} rewrapped`

/** Formats the result, the existing key versions and the next step. */
export function rewrapLines(
  resources: readonly RewrappedResource[],
  after: string | undefined,
  { count, entities, encryptor }: Pick<RewrapFlags, 'count' | 'entities' | 'encryptor'>,
  paint: Paint,
): string[] {
  const lines: string[] = []
  for (const { type, rows, rewrapped, changed, unreadable, versions } of resources) {
    if (!count)
      lines.push(
        `${type}: ${counted(rows, 'row')}, ${counted(rewrapped, 'secret')} rewrapped, ${changed} written by others meanwhile`,
      )
    if (unreadable > 0)
      lines.push(paint.bad(`${type}: ${counted(unreadable, 'secret')} cannot be read by this encryptor`))
    lines.push(`${type}: ${versionsText(versions)}`)
  }
  if (after !== undefined)
    lines.push(
      `ended before every row was processed: continue with ashlar secrets rewrap --entities ${shellWord(entities)} --encryptor ${shellWord(encryptor)} --after ${after}`,
    )
  return lines
}

const versionsText = (versions: Readonly<Record<string, number>>): string => {
  const found = Object.entries(versions).sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
  if (found.length === 0) return 'no secret is stored'
  return found
    .map(
      ([version, count]) =>
        `${counted(count, 'secret')} on ${version === '' ? 'a key without versions' : version}`,
    )
    .join(', ')
}
