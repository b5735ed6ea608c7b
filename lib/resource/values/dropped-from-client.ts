import type { Field } from '../fields/field.js'

/**
 * Returns true if the server sets the field, so that a client's value is ignored: OUTPUT_ONLY fields
 * (AIP-203), the tenant and timestamps. The etag is read, because it is a precondition.
 */
export const isDroppedFromClient = ({ role }: Pick<Field, 'role'>): boolean =>
  role !== 'plain' && role !== 'key' && role !== 'etag'
