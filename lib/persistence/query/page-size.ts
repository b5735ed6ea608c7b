import { InvalidArgument } from '../../errors.js'

/** The default number of items on a page. */
export const DEFAULT_PAGE_SIZE = 50
/** The maximum number of items on a page. */
export const MAX_PAGE_SIZE = 1000

/**
 * Returns the number of items on a page (AIP-158): 50 by default or if `asked` is not positive, and at most
 * 1000.
 *
 * @throws InvalidArgument if the number is not an integer.
 */
export function pageSizeOf(asked: number | undefined): number {
  if (asked === undefined || asked <= 0) return DEFAULT_PAGE_SIZE
  if (!Number.isInteger(asked)) throw new InvalidArgument('page_size', 'must be an integer')
  return Math.min(asked, MAX_PAGE_SIZE)
}
