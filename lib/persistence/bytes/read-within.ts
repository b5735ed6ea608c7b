import { TooManyBytes } from './too-many-bytes.js'

/**
 * Reads rows of at most `maxBytes` in total. Most reads stay within the limit, so an engine that can end a
 * running read starts with all rows. Other engines measure the rows first. Transactions also measure first,
 * because ending a read would end the transaction.
 *
 * @param read - reads all rows.
 * @param measured - measures the rows and reads the rows that fit. `rows` is the number of rows that
 *   arrived before a read exceeded the limit, or undefined if nothing was read.
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
