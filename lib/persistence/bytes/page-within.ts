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
      const sizesOf = async (count: number) => (await measure(count, false)).map(([size]) => Number(size))
      // Some values arrive as twice as many bytes. An engine may read all of a value to measure it.
      const most = rows === undefined ? asked : Math.min(asked, 2 * rows + 2)
      let sizes = await sizesOf(most)
      // More fit than were measured: whether rows follow is known only from all of them.
      if (most < asked && fitting(sizes, maxBytes) === most) sizes = await sizesOf(asked)
      const count = fitting(sizes, maxBytes)
      return count === sizes.length ? read(asked) : { ...(await read(count)), isCut: true }
    },
  )
