import { TooManyBytes } from './too-many-bytes.js'

/**
 * Reads rows of at most `maxBytes`. Most rows fit, so that an engine that can end a read is asked for all of
 * them. Other engines, and transactions, which a read that ends would end, measure the rows first.
 * @param read - reads all rows.
 * @param measured - measures the rows and reads what fits. `rows` is how many had arrived within the limit
 * before a read ended; undefined if nothing was read.
 */
export function readWithin<T>(
  on: { readonly endsReads?: boolean },
  maxBytes: number,
  read: (maxBytes: number) => Promise<T>,
  measured: (rows?: number) => Promise<T>,
): Promise<T> {
  if (on.endsReads !== true) return measured()
  return read(maxBytes).catch((error: unknown) => {
    if (error instanceof TooManyBytes) return measured(error.rows)
    throw error
  })
}
