import type { Field } from '../fields/field.js'
import { kindOf } from '../kinds/kinds.js'

/** A part of a key as an entity holds it: what the type of its property says. */
export type PartValue = string | number | bigint

/** A column of a key, or of a reference to one. */
export interface KeyPart {
  readonly field: Field
  /** The canonical text of what an entity holds; `''` where it holds nothing. */
  readonly textOf: (value: unknown) => string
  /** The value of an entity; undefined for a string that is not canonical, which no row has. */
  readonly valueOf: (text: string) => PartValue | undefined
  /** The canonical form of a string in another format. Undefined if it has none. */
  readonly meant: (text: string) => string | undefined
  /** As ORDER BY has the two texts, which are canonical. */
  readonly compare: (a: string, b: string) => number
}

const known = new WeakMap<Field, KeyPart>()

/** @throws TypeError for a field that can be not part of a key. The resource model refuses it before. */
export function keyPartOf(field: Field): KeyPart {
  let part = known.get(field)
  if (part === undefined) known.set(field, (part = partOf(field)))
  return part
}

/** The canonical text of a part of a key, or of the tenant, in an entity. */
export const partIn = (field: Field, entity: object): string =>
  keyPartOf(field).textOf((entity as Readonly<Record<string, unknown>>)[field.property])

function partOf(field: Field): KeyPart {
  const { key, isText } = kindOf(field)
  if (key === undefined) throw new TypeError(`${field.property} is ${field.kind}, and cannot be a key`)
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

/** Of a value that is a part of a key of any kind. Anything else has no text. */
function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'bigint' || Number.isInteger(value) ? String(value) : ''
}
