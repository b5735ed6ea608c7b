import { InvalidArgument } from '../../errors.js'

/**
 * The error for a caller that chooses a generated number: one near the end of its range would end the numbers
 * of all tenants.
 * @param name - of the field that the caller has set.
 */
export const choosesGenerated = (name: string): InvalidArgument =>
  new InvalidArgument(name, 'is a number that the database makes: leave it out')
