import { TransitError } from '../errors.js'
import { itemError } from './vault/vault-client.js'

/**
 * A server of default settings takes 1,000 strings in a request, names of fields included: an item has two
 * for each of its fields.
 */
const MAX_BATCH_STRINGS = 400
const MAX_BATCH_CHARACTERS = 1024 * 1024

/**
 * Bounds of the slices in which a batch is sent: servers limit requests by size and by number of strings. 200
 * items are sent at once, and 100 where each has associated data.
 * @param fields - of each item.
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
 * One result for each item. An item's error rejects the whole batch, even when the server returns success.
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
    throw new TransitError(`${operation}: the response has not ${count} 'batch_results'`, { statusCode: 200 })
  }
  return results.map((result: unknown, index) => {
    const item = (typeof result === 'object' && result !== null ? result : {}) as Readonly<
      Record<string, unknown>
    >
    if (typeof item.error !== 'string' || item.error === '') return item
    throw itemError(operation, item.error, tokens, secrets, { statusCode: 200, item: offset + index })
  })
}
