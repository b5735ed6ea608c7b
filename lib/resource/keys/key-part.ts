import type { Field } from '../fields/field.js'
import { kindOf } from '../kinds/kinds.js'

/** A key part in the type of the entity's property. @inline */
export type PartValue = string | number | bigint

/** A column of a key or of a reference to a key. */
export interface KeyPart {
  readonly field: Field
  /** Returns the canonical string of an entity's value; `''` if it has none. */
  readonly textOf: (value: unknown) => string
  /** Returns the entity's value; undefined for a string that is not canonical, which no row contains. */
  readonly valueOf: (text: string) => PartValue | undefined
  /** Returns the canonical form of a string in another format; undefined if there is none. */
  readonly meant: (text: string) => string | undefined
  /** Compares two canonical strings in the order of ORDER BY. */
  readonly compare: (a: string, b: string) => number
}

const known = new WeakMap<Field, KeyPart>()

/** @throws TypeError for a field that cannot be part of a key. The resource model rejects it earlier. */
export function keyPartOf(field: Field): KeyPart {
  let part = known.get(field)
  if (part === undefined) known.set(field, (part = partOf(field)))
  return part
}

/** Returns the canonical string of an entity's key part or tenant. */
export const partIn = (field: Field, entity: object): string =>
  keyPartOf(field).textOf((entity as Readonly<Record<string, unknown>>)[field.property])

function partOf(field: Field): KeyPart {
  const { key, isText } = kindOf(field)
  if (key === undefined) throw new TypeError(`${field.property} is ${field.kind}, which cannot be a key`)
  const { parse, meant, compare } = key
  return Object.freeze({
    field,
    textOf: textOfValue,
    valueOf:
      field.hasDigits === true
        ? (text) => (parse(text, field) === undefined ? undefined : text)
        : isText
          ? (parse as KeyPart['valueOf'])
          : field.inProperty === 'number'
            ? (text) => (parse(text, field) === undefined ? undefined : Number(text))
            : (text) => parse(text, field) as PartValue | undefined,
    meant: (text) => meant(text, field),
    compare,
  } satisfies KeyPart)
}

/** Returns a key part's value as a string; `''` for values that cannot be part of a key. */
function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'bigint' || Number.isInteger(value) ? String(value) : ''
}
