import { InvalidArgument } from '../../errors.js'

/** Items of a page where nothing is asked for. */
export const DEFAULT_PAGE_SIZE = 50
/** The most items of a page. */
export const MAX_PAGE_SIZE = 1000

/**
 * How many items a page holds (AIP-158): 50 when nothing or nothing positive is asked for, and at most 1000.
 * @throws InvalidArgument for a number that is not an integer.
 */
export function pageSizeOf(asked: number | undefined): number {
  if (asked === undefined || asked <= 0) return DEFAULT_PAGE_SIZE
  if (!Number.isInteger(asked)) throw new InvalidArgument('page_size', 'has to be an integer')
  return Math.min(asked, MAX_PAGE_SIZE)
}
