import type { Field } from '../fields/field.js'
import { type KeyPart, keyPartOf, type PartValue } from './key-part.js'

/**
 * A key as application code uses it. If the class has one key property, this is the value of the property.
 * Otherwise, it is an object with a value for each key property.
 */
export type KeyValue = PartValue | Readonly<Record<string, PartValue>>

/**
 * The keys of one resource. Application code compares, counts, limits and caches keys in their canonical
 * string form. Statements bind the values of the parts.
 */
export interface ResourceKeys {
  readonly parts: readonly KeyPart[]
  /** Returns the canonical string of an entity's key; `''` if the entity has none. */
  readonly textOf: (entity: object) => string
  /** True if the string is canonical, so that a row can have it as its key. */
  readonly isKey: (text: string) => boolean
  /** Returns an entity's key in the form of application code. The entity must have a key. */
  readonly ofEntity: (entity: object) => KeyValue
  /** Returns the values of the parts, in order; undefined for a string that is not canonical. */
  readonly valuesOf: (text: string) => readonly PartValue[] | undefined
  /** Returns the key in the form of application code; undefined for a string that is not canonical. */
  readonly keyOf: (text: string) => KeyValue | undefined
  /**
   * Returns the canonical string of a key in the form of application code; undefined if no row can have the
   * key.
   */
  readonly given: (key: unknown) => string | undefined
  /** Returns the canonical form of a string in another format. */
  readonly meant: (text: string) => string | undefined
  /**
   * Compares keys in the order in which rows are locked and batches are written: ORDER BY's order on every
   * engine.
   */
  readonly compare: (a: string, b: string) => number
}

type Values = Readonly<Record<string, unknown>>

/** Separates the parts of a key. No part contains it, unless it is the only part. */
const SEPARATOR = '/'

/** @param fields - the fields of the key's parts, in order; at least one. */
export function resourceKeys(fields: readonly Field[]): ResourceKeys {
  const parts = fields.map(keyPartOf)
  const [only, another] = parts
  if (only === undefined) throw new TypeError('a key has at least one part')
  return Object.freeze(another === undefined ? ofOne(only) : ofSeveral(parts))
}

function ofOne(part: KeyPart): ResourceKeys {
  const { textOf, valueOf, meant, compare } = part
  const { property } = part.field
  return {
    parts: [part],
    textOf: (entity) => textOf((entity as Values)[property]),
    isKey: (text) => valueOf(text) !== undefined,
    ofEntity: (entity) => (entity as Values)[property] as PartValue,
    valuesOf(text) {
      const value = valueOf(text)
      return value === undefined ? undefined : [value]
    },
    keyOf: valueOf,
    given(key) {
      const text = textOf(key)
      return valueOf(text) === undefined ? undefined : text
    },
    meant,
    compare,
  }
}

function ofSeveral(parts: readonly KeyPart[]): ResourceKeys {
  const valuesOf: ResourceKeys['valuesOf'] = (text) => {
    const texts = text.split(SEPARATOR)
    if (texts.length !== parts.length) return undefined
    const values = parts.map(({ valueOf }, at) => valueOf(texts[at] as string))
    return values.every((value) => value !== undefined) ? values : undefined
  }
  const textOf: ResourceKeys['textOf'] = (entity) => {
    const texts = parts.map((part) => part.textOf((entity as Values)[part.field.property]))
    // A part with a slash would produce the string of another key.
    const isWhole = texts.every((one) => one !== '' && !one.includes(SEPARATOR))
    return isWhole ? texts.join(SEPARATOR) : ''
  }
  return {
    parts,
    textOf,
    isKey: (text) => valuesOf(text) !== undefined,
    ofEntity: (entity) =>
      Object.fromEntries(
        parts.map(({ field: { property } }) => [property, (entity as Values)[property] as PartValue]),
      ),
    valuesOf,
    keyOf(text) {
      const values = valuesOf(text)
      return (
        values && Object.fromEntries(parts.map(({ field }, at) => [field.property, values[at] as PartValue]))
      )
    },
    given(key) {
      const text = typeof key === 'object' && key !== null ? textOf(key) : typeof key === 'string' ? key : ''
      return valuesOf(text) === undefined ? undefined : text
    },
    meant(text) {
      const texts = text.split(SEPARATOR)
      if (texts.length !== parts.length) return undefined
      const canonical = parts.map(({ valueOf, meant }, at) => {
        const one = texts[at] as string
        return valueOf(one) === undefined ? meant(one) : one
      })
      return canonical.every((one) => one !== undefined) ? canonical.join(SEPARATOR) : undefined
    },
    compare(a, b) {
      const [x, y] = [a.split(SEPARATOR), b.split(SEPARATOR)]
      for (const [at, { compare }] of parts.entries()) {
        const order = compare(x[at] as string, y[at] as string)
        if (order !== 0) return order
      }
      return 0
    },
  }
}
