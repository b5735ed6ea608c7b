import { createHash, randomBytes } from 'node:crypto'
import type { Principal } from '../../context.js'

/**
 * The prefix of operations that belong to one principal. Names of a tenant's operations continue with a
 * digit.
 */
const OWNED = 'operations/p'

/** Returns a name for an operation that belongs to the whole tenant. Names sort by time. */
export const newOperationName = (): string => `operations/${newId()}`

/**
 * Returns a name for an operation that belongs to one principal. Names sort by time, after the tenant's
 * operations.
 */
export const newOwnedName = (owner: Principal): string => ownedPrefix(owner) + newId()

/** Returns true if the operation belongs to one principal. */
export const isOwned = (name: string): boolean => name.startsWith(OWNED)

/** Returns the name prefix of a principal's own operations, which is unique to that principal and tenant. */
export const ownedPrefix = ({ tenant, subject }: Principal): string =>
  OWNED +
  createHash('sha256')
    .update(JSON.stringify([tenant, subject]))
    .digest('hex')
    .slice(0, 32)

const newId = (): string => Date.now().toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
