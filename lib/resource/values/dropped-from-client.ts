import type { Field } from '../fields/field.js'

/**
 * True if the server sets the field, so that what a client sends for it is dropped: OUTPUT_ONLY fields
 * (AIP-203), the tenant and the times. The etag is a precondition, and is read.
 */
export const isDroppedFromClient = ({ role }: Pick<Field, 'role'>): boolean =>
  role !== 'plain' && role !== 'key' && role !== 'etag'
