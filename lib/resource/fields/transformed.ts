import type { ValueTransformer } from 'typeorm'
import { decimalText } from '../kinds/fractions.js'
import type { Facets } from '../kinds/kind.js'
import { heldOf, kindOf, ownOf } from '../kinds/kinds.js'
import type { Field, ValueField } from './field.js'

/**
 * The conversion of a property whose `@Column()` has a `transformer`. The field's kind and facets describe
 * the column.
 */
export interface Transformed {
  /** Converts a property's value to the column's; null if there is none. */
  readonly to: (held: unknown) => unknown
  /** Converts a column's value or null to the property's value. */
  readonly from: (stored: unknown) => unknown
  /** The type of the property; undefined if neither the message nor its class states it. */
  readonly held: ValueField | undefined
}

/**
 * Combines transformers as TypeORM calls them, also for NULL.
 * @param stored - the column's type.
 */
export function transformedBy(
  transformers: readonly ValueTransformer[],
  facets: Facets,
  held: ValueField | undefined,
): Transformed {
  const backwards = [...transformers].reverse()
  return {
    held,
    to: (value) => {
      const stored: unknown =
        transformers.reduce<unknown>((one, by) => by.to(one), value ?? undefined) ?? null
      if (facets.hasDigits === true && stored !== null) return String(stored as number)
      const isNumber = facets.decimal !== undefined && typeof stored === 'number'
      return isNumber ? decimalText(stored, facets) : stored
    },
    from: (stored) =>
      backwards.reduce<unknown>((one, by) => by.from(one), asBuffer(stored) ?? null) ?? undefined,
  }
}

/** Returns a function that maps a written value to the value that a later read returns. */
export function keptValue(field: Field): (value: unknown) => unknown {
  const { json, transformed } = field
  const kept = json === undefined ? keptBy(field) : (value: unknown) => json.decode(json.encode(value))
  const read = (value: unknown) =>
    value === undefined || value === null || kept === undefined ? value : kept(value)
  return transformed === undefined ? read : (value) => transformed.from(read(transformed.to(value)))
}

/**
 * Returns a function that maps a property's value to the value that the column returns; undefined if they are
 * equal.
 */
export function keptBy(field: ValueField): ((value: unknown) => unknown) | undefined {
  const { kept } = kindOf(field)
  if (field.held === undefined) return kept && ((value) => kept(value, field))
  return (value) => {
    const own = ownOf(value, field)
    return heldOf(kept === undefined ? own : kept(own, field), field)
  }
}

/** Converts bytes to a Buffer, as TypeORM's drivers return them. */
const asBuffer = (stored: unknown): unknown =>
  stored instanceof Uint8Array ? Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength) : stored
