import { fitting } from './counted-bytes.js'
import { readWithin } from './read-within.js'

/**
 * Returns a function that reads as many rows as fit on a page.
 *
 * @param measure - returns the size of each row, or one total.
 */
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
      // Measure few rows, because an engine may read a whole value to measure it. Up to twice as many rows as
      // arrived can fit, because some values arrive as twice as many bytes.
      const most = rows === undefined ? asked : Math.min(asked, 2 * rows + 2)
      let sizes = await sizesOf(most)
      // Every measured row fits, so the page can be longer. Measure all rows.
      if (most < asked && fitting(sizes, maxBytes) === most) sizes = await sizesOf(asked)
      const count = fitting(sizes, maxBytes)
      return count === sizes.length ? read(asked) : { ...(await read(count)), isCut: true }
    },
  )
