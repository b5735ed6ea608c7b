import { InvalidArgument } from '../../errors.js'

/**
 * What a caller is told who chooses a number that the database mints: one near the end of its range would end
 * the numbers of all tenants.
 * @param name - of the field that the caller has set.
 */
export const choosesMinted = (name: string): InvalidArgument =>
  new InvalidArgument(name, 'is a number that the database makes: leave it out')
