import { InvalidArgument } from '../../../errors.js'

/** The last instant a column holds. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const EARLIEST_MS = Date.UTC(1000, 0, 1)

/**
 * The threshold of a purge, limited to times that a column can store: a later or earlier one becomes the last or first
 * storable time.
 * @throws InvalidArgument for an invalid Date.
 */
export function purgeThreshold(before: Date): Date {
  const ms = before.getTime()
  if (Number.isNaN(ms)) throw new InvalidArgument('before', 'is no valid time')
  return new Date(Math.min(LATEST_MS, Math.max(EARLIEST_MS - 1, ms)))
}
