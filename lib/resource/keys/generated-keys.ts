import { InvalidArgument } from '../../errors.js'

/**
 * Returns the error for a caller that chooses a generated number: a number near the end of the range would
 * exhaust the numbers of all tenants.
 * @param name - of the field that the caller has set.
 */
export const choosesGenerated = (name: string): InvalidArgument =>
  new InvalidArgument(name, 'is a number that the database generates: leave it out')
