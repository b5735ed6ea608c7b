import type { Field } from '../fields/field.js'
import { FieldIncrement } from './increment.js'

/**
 * The value of a field with free-form JSON that a full update leaves unset. It is cleared, unless its column
 * has JSON of a shape that the message cannot hold, which the caller has not read.
 */
export class KeptUnread {
  constructor(readonly field: Field) {}
}

/** True if a field has free-form JSON whose shape a column need not have. */
export const mayBeUnread = ({ json }: Pick<Field, 'json'>): boolean =>
  json?.shape === 'object' || json?.shape === 'array'

/** True if what an update writes depends on what is stored. */
export function dependsOnStored(patch: Readonly<Record<string, unknown>>): boolean {
  for (const value of Object.values(patch))
    if (value instanceof FieldIncrement || value instanceof KeptUnread) return true
  return false
}
