import { ScalarType } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import type { Kind, PlanValue } from './kind.js'
import { isClass, managedAs } from './managed.js'
import { TEXT_KEY } from './key-rules.js'
import { INTEGER, type Literal, Misfit } from './literal.js'

const UNBOUNDED = new Set<unknown>(['text', 'mediumtext', 'longtext'])
const DEFAULT_LENGTH = 255

/** The most characters of a text column; undefined when it is unlimited. */
function maxLength({ type, length }: ColumnOptions): number | undefined {
  if (UNBOUNDED.has(type)) return undefined
  return isSaid(length) ? Number(length) : DEFAULT_LENGTH
}

/** True if an option of a column is given. */
export const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** What is wrong with a text that no column can hold. */
export function textProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return `has to be a string, not a ${typeof value}`
  if (value.includes('\0')) return 'must not contain a NUL character'
  return value.isWellFormed() ? undefined : 'contains half of a surrogate pair, which is not a character'
}

/** Counts code points, as databases do. It counts only when the UTF-16 length is not conclusive. */
export function isLonger(value: string, max: number): boolean {
  if (value.length <= max) return false
  if (value.length > max * 2) return true
  let count = 0
  for (const _ of value) if (++count > max) return true
  return false
}

export const isStoredText = (value: PlanValue): value is string =>
  typeof value === 'string' && !/[\0\p{Surrogate}]/u.test(value)

export const string: Kind = {
  name: 'string',
  declared: {
    scalars: [ScalarType.STRING],
    columnTypes: ['varchar', 'text', 'char', 'character varying', 'mediumtext', 'longtext'],
    holds: 'string',
    family: 'text',
    classes: [String],
    property: () => 'string',
    fits: (type) => type === String,
    takesLength: (type) => !UNBOUNDED.has(type),
    maxLength,
  },
  problem: (value, { maxLength: max }) =>
    textProblem(value) ??
    (max !== undefined && isLonger(value as string, max) ? `is longer than ${max} characters` : undefined),
  zero: () => '',
  filler: () => '',
  key: TEXT_KEY,
  increments: noNumber('string'),
  managed: managedAs(String),
  isNested: false,
  isStoredAsText: true,
  isSmall: false,
  inside: { value: (json) => (typeof json === 'string' ? json : undefined), zero: () => '' },
  literal: textLiteral,
  isText: true,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  exceeds: (most, { maxLength: max }) => max === undefined || max > most,
  isInCursor: isStoredText,
}

/** By its name, which a row holds. */
export const enumeration: Kind = {
  name: 'enum',
  declared: {
    scalars: [],
    columnTypes: [],
    holds: 'enum',
    family: 'text',
    classes: [],
    property: () => 'number (a numeric enum)',
    fits: (type) => type === Number,
    takesLength: () => true,
    maxLength: (options) => (options.length === undefined ? undefined : maxLength(options)),
  },
  problem: (value, { enumNames }) => {
    if (enumNames?.nameOf.has(value as number) === true) return undefined
    const number = enumNames?.numberOf.get(value as string)
    return number === undefined
      ? `has no value ${String(value)}: use one of ${[...(enumNames?.numberOf.keys() ?? [])].join(', ')}`
      : `has the text ${String(value)}: write the member of the enum, whose number is ${number}`
  },
  zero: () => 0,
  filler: ({ enumNames }) => enumNames?.nameOf.get(0),
  increments: noNumber('enum'),
  managed: {
    // As a number it would be read as one.
    type: (declared) => (isClass(declared) && declared !== String ? 'varchar' : undefined),
    to: (value, { enumNames }) => enumNames?.nameOf.get(value as number) ?? value,
    from: (read, { enumNames }) => enumNames?.numberOf.get(read as string) ?? 0,
  },
  toJson: (value, { enumNames }) => enumNames?.nameOf.get(value as number) ?? (value as number),
  isNested: false,
  isStoredAsText: true,
  isSmall: false,
  inside: {
    value: (json) => (typeof json === 'string' || typeof json === 'number' ? String(json) : undefined),
    zero: ({ enumNames }) => enumNames?.nameOf.get(0),
  },
  literal: (token, { enumNames }) => {
    const { kind, text } = token
    const name = kind === 'number' ? enumNames?.nameOf.get(Number(text)) : undefined
    if (name !== undefined && INTEGER.test(text)) return name
    if (kind !== 'word' && kind !== 'string' && kind !== 'number')
      return Misfit.takes('the name of an enum value')
    const names = enumNames?.numberOf
    if (kind !== 'number' && (names === undefined || names.has(text))) return text
    return new Misfit((field, found) => `${field} has no value ${found}`, names?.keys())
  },
  isText: false,
  hasOrder: false,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  planValue: (value, { enumNames }) =>
    typeof value === 'number' ? (enumNames?.nameOf.get(value) ?? String(value)) : (value as PlanValue),
  isInCursor: isStoredText,
}

export function textLiteral({ kind, text }: Literal): string | Misfit {
  return kind === 'string' ? text : Misfit.takes('text in double quotes')
}

/** Why increments cannot add to a kind. */
export function noNumber(kind: string): string {
  return `increment() is for a number, and the field is of type ${kind}`
}
