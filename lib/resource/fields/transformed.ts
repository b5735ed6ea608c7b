import type { ValueTransformer } from 'typeorm'
import { decimalText } from '../kinds/fractions.js'
import type { Facets } from '../kinds/kind.js'
import { heldOf, kindOf, ownOf } from '../kinds/kinds.js'
import type { Field, ValueField } from './field.js'

/**
 * The values of a property whose `@Column()` has a `transformer`. The kind of its field and the kind's facets
 * are the column's.
 */
export interface Transformed {
  /** The value of a property as its column holds it; null for none. */
  readonly to: (held: unknown) => unknown
  /** Converts a column's value, or null, to the property's; undefined without a transformer. */
  readonly from: (stored: unknown) => unknown
  /** The type of the property. Undefined if neither the message nor its class shows it. */
  readonly held: ValueField | undefined
}

/** As TypeORM calls them, NULL included. @param stored - the column. */
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

/** The value that a read gives of one that is written. */
export function keptValue(field: Field): (value: unknown) => unknown {
  const { json, transformed } = field
  const kept = json === undefined ? keptBy(field) : (value: unknown) => json.decode(json.encode(value))
  const read = (value: unknown) =>
    value === undefined || value === null || kept === undefined ? value : kept(value)
  return transformed === undefined ? read : (value) => transformed.from(read(transformed.to(value)))
}

/** The value that a column gives back of a property's; undefined if both are the same. */
export function keptBy(field: ValueField): ((value: unknown) => unknown) | undefined {
  const { kept } = kindOf(field)
  if (field.held === undefined) return kept && ((value) => kept(value, field))
  return (value) => {
    const own = ownOf(value, field)
    return heldOf(kept === undefined ? own : kept(own, field), field)
  }
}

/** TypeORM's drivers return bytes as a Buffer. */
const asBuffer = (stored: unknown): unknown =>
  stored instanceof Uint8Array ? Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength) : stored
