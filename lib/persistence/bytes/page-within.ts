import { fitting } from './counted-bytes.js'
import { readWithin } from './read-within.js'

/** Reads as many rows as fit. @param measure - the bytes of so many rows, each by itself or all together. */
export const pageWithin = <P extends object>(
  maxBytes: number,
  on: { readonly endsReads?: boolean },
  asked: number,
  read: (count: number, maxBytes?: number) => Promise<P>,
  measure: (count: number, isTotal: boolean) => Promise<readonly (readonly unknown[])[]>,
): Promise<P & { readonly isCut?: boolean }> =>
  readWithin(
    on,
    maxBytes,
    (limit) => read(asked, limit),
    async (rows) => {
      if (rows === undefined && Number((await measure(asked, true))[0]?.[0]) <= maxBytes) return read(asked)
      // Some values arrive as twice as many bytes. An engine may read all of a value to measure it.
      let most = rows === undefined ? asked : Math.min(asked, 2 * rows + 2)
      let sizes = (await measure(most, false)).map(([size]) => Number(size))
      let count = fitting(sizes, maxBytes)
      // More fit than were measured: whether rows follow is known only from all of them.
      if (count === most && most < asked) {
        most = asked
        sizes = (await measure(most, false)).map(([size]) => Number(size))
        count = fitting(sizes, maxBytes)
      }
      return count === sizes.length && (most === asked || count < most)
        ? read(asked)
        : { ...(await read(count)), isCut: true }
    },
  )
