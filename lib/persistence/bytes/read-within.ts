import { TooManyBytes } from './too-many-bytes.js'

/**
 * Reads rows of at most `maxBytes`. Most rows fit, so an engine that can end a read reads all of them.
 * Other engines measure the rows first, and so do transactions, which an ended read would end.
 * @param read - reads all rows.
 * @param measured - measures the rows and reads those that fit. `rows` is the number that had arrived within
 * the limit before a read ended; undefined if nothing was read.
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
