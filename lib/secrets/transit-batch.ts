import { TransitError } from '../errors.js'
import { itemError } from './vault/vault-client.js'

/**
 * The maximum number of strings in a batch, below the server's default limit of 1,000 per request. Field
 * names count, too, so that each field of an item counts as two strings.
 */
const MAX_BATCH_STRINGS = 400
const MAX_BATCH_CHARACTERS = 1024 * 1024

/**
 * Returns the slices of a batch. Servers limit requests by size and by number of strings. A slice has at most
 * 200 items, or 100 if each has associated data.
 *
 * @param fields - the number of fields per item.
 */
export function chunksOf(texts: readonly string[], fields: number): [from: number, to: number][] {
  const mostItems = Math.floor(MAX_BATCH_STRINGS / (2 * fields))
  const chunks: [number, number][] = []
  let from = 0
  let characters = 0
  texts.forEach((text, index) => {
    if (index > from && (index - from >= mostItems || characters + text.length > MAX_BATCH_CHARACTERS)) {
      chunks.push([from, index])
      from = index
      characters = 0
    }
    characters += text.length
  })
  if (texts.length > from) chunks.push([from, texts.length])
  return chunks
}

/**
 * Returns one result for each item. An item's error rejects the whole batch, even if the server reports
 * success.
 */
export function batchResultsOf(
  data: Readonly<Record<string, unknown>>,
  operation: string,
  count: number,
  tokens: readonly string[],
  secrets: readonly string[],
  offset: number,
): Readonly<Record<string, unknown>>[] {
  const results = data.batch_results
  if (!Array.isArray(results) || results.length !== count) {
    throw new TransitError(`${operation}: the response has no list of ${count} 'batch_results'`, {
      statusCode: 200,
    })
  }
  return results.map((result: unknown, index) => {
    const item = (typeof result === 'object' && result !== null ? result : {}) as Readonly<
      Record<string, unknown>
    >
    if (typeof item.error !== 'string' || item.error === '') return item
    throw itemError(operation, item.error, tokens, secrets, { statusCode: 200, item: offset + index })
  })
}
