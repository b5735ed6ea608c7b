import { TransitError } from '../errors.js'
import { safeBody } from './safe-body.js'

const MAX_BATCH_ITEMS = 500
const MAX_BATCH_CHARACTERS = 1024 * 1024

/** Bounds of the slices in which a batch is sent: servers limit requests by size and by number of items. */
export function chunksOf(texts: readonly string[]): [from: number, to: number][] {
  const chunks: [number, number][] = []
  let from = 0
  let characters = 0
  texts.forEach((text, index) => {
    if (
      index > from &&
      (index - from >= MAX_BATCH_ITEMS || characters + text.length > MAX_BATCH_CHARACTERS)
    ) {
      chunks.push([from, index])
      from = index
      characters = 0
    }
    characters += text.length
  })
  if (texts.length > from) chunks.push([from, texts.length])
  return chunks
}

/** One result for each item. An item's error rejects the whole batch, even when the server returns success. */
export function batchResultsOf(
  data: Readonly<Record<string, unknown>>,
  operation: string,
  count: number,
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
    const body = safeBody(item.error, secrets)
    throw new TransitError(`${operation}: item ${offset + index}: ${body}`, { statusCode: 200, body })
  })
}
