import { createHash, randomBytes } from 'node:crypto'
import type { Principal } from '../../context.js'

/** No name of an operation of a whole tenant begins with it: those begin with a digit. */
const OWNED = 'operations/p'

/** A new operation of a whole tenant; the names sort by time. */
export const newOperationName = (): string => `operations/${newId()}`

/** A new operation of one principal. A principal's operations sort by time, after the tenant's. */
export const newOwnedName = (owner: Principal): string => ownedPrefix(owner) + newId()

/** True if the operation belongs to one principal. */
export const isOwned = (name: string): boolean => name.startsWith(OWNED)

/** The prefix of the names of a principal's own operations, which no other principal of any tenant has. */
export const ownedPrefix = ({ tenant, subject }: Principal): string =>
  OWNED +
  createHash('sha256')
    .update(JSON.stringify([tenant, subject]))
    .digest('hex')
    .slice(0, 32)

const newId = (): string => Date.now().toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
