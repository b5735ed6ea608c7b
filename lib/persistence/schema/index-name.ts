import { createHash } from 'node:crypto'

/** The maximum length in bytes. PostgreSQL truncates longer names. */
const MAX_NAME = 63

/**
 * Returns an index name that consists of the table, the columns and the suffix. A longer name is truncated
 * and made unique by a digest.
 */
export function indexName(table: string, columns: readonly string[], suffix: string): string {
  const name = [table, ...columns, suffix].join('_')
  if (Buffer.byteLength(name) <= MAX_NAME) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const characters = [...name]
  const room = MAX_NAME - digest.length - suffix.length - 2
  while (Buffer.byteLength(characters.join('')) > room) characters.pop()
  return `${characters.join('')}_${digest}_${suffix}`
}

/** Returns the name, with a number appended if it is used. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  let number = 2
  let free: string
  do {
    const characters = [...name]
    while (Buffer.byteLength(characters.join('')) > MAX_NAME - 1 - String(number).length) characters.pop()
    free = `${characters.join('')}_${number++}`
  } while (taken.has(free))
  return free
}
