import type { Field } from '../fields/field.js'
import { kindOf, ownOf } from '../kinds/kinds.js'
import { FieldIncrement } from './increment.js'

/**
 * The value of a field that a full update leaves unset. It is written unless the column has a value that the
 * message cannot contain, because the caller has not read that value.
 */
export class KeptUnread {
  private constructor(
    readonly field: Field,
    readonly value: unknown,
  ) {}

  /** @param zero - the field's zero value, which its column may not be able to store. */
  static of(field: Field, zero: unknown): KeptUnread {
    const isValue = zero !== undefined && kindOf(field).problem(ownOf(zero, field), field) === undefined
    return new KeptUnread(field, isValue ? zero : undefined)
  }

  /** True if the column is NOT NULL and the unset field has no value. */
  get isMissing(): boolean {
    return this.value === undefined && !this.field.nullable && this.field.nullIsZero !== true
  }
}

/**
 * Returns true if a full update that leaves the field unset keeps a stored value that the message cannot
 * contain.
 */
export const mayBeUnread = (
  field: Field,
  { existing, strategy }: { readonly existing: boolean; readonly strategy: unknown },
): boolean =>
  field.transformed === undefined &&
  kindOf(field).mayBeUnread?.(field, existing || strategy !== undefined) === true

/** Returns true if the values that an update writes depend on the stored ones. */
export function dependsOnStored(patch: Readonly<Record<string, unknown>>): boolean {
  for (const value of Object.values(patch))
    if (value instanceof FieldIncrement || value instanceof KeptUnread) return true
  return false
}
