import { ScalarType } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import type { EnumLabels } from '../enums/enum-labels.js'
import { storedName } from '../enums/enum-names.js'
import type { Facets, Kind, PlanValue } from './kind.js'
import { isClass, managedAs } from './managed.js'
import { TEXT_KEY } from './key-rules.js'
import { INTEGER, type Literal, Misfit } from './literal.js'

const UNBOUNDED = new Set<unknown>(['text', 'mediumtext', 'longtext'])
const DEFAULT_LENGTH = 255

/** Returns the maximum number of characters of a text column; undefined if it is unbounded. */
function maxLength({ type, length }: ColumnOptions): number | undefined {
  if (UNBOUNDED.has(type)) return undefined
  return isSaid(length) ? Number(length) : DEFAULT_LENGTH
}

/** Returns true if a column option is given. */
export const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** Returns the problem with a string that no column can store. */
export function textProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return `must be a string, not a ${typeof value}`
  if (value.includes('\0')) return 'must not contain a NUL character'
  return value.isWellFormed() ? undefined : 'contains half of a surrogate pair, which is not a character'
}

/**
 * Returns true if a string has more than `max` code points, which databases count. Counts them only if the
 * UTF-16 length is not conclusive.
 */
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

/** Column types that TypeORM creates for an enum. */
export const ENUM_TYPES: ReadonlySet<unknown> = new Set(['enum', 'simple-enum'])

const labelProblem = (value: unknown, { numberOf }: EnumLabels): string | undefined =>
  typeof value === 'string' && numberOf.has(value)
    ? undefined
    : `has no value ${String(value)}: use one of ${[...numberOf.keys()].join(', ')}`

/** An enum value, stored as its name or as the column's label for it. */
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
    const labels = enumNames?.labels
    if (labels !== undefined && !labels.isNumber) return labelProblem(value, labels)
    if ((labels?.labelOf ?? enumNames?.nameOf)?.has(value as number) === true) return undefined
    const number = enumNames?.numberOf.get(value as string)
    const names = [...(enumNames?.numberOf ?? [])].filter(([, one]) => labels?.labelOf.has(one) !== false)
    return number === undefined
      ? `has no value ${String(value)}: use one of ${names.map(([name]) => name).join(', ')}`
      : `is the string ${String(value)}: write the enum member, whose number is ${number}`
  },
  // A message cannot distinguish it from an unset field, which has no label.
  zero: ({ enumNames }) => (enumNames?.labels === undefined ? 0 : enumNames.labels.fromNumber(0)),
  filler: ({ enumNames }) => enumNames && storedName(enumNames, 0),
  increments: noNumber('enum'),
  managed: {
    // A column that TypeORM declares as a number would be read as a number.
    type: (declared) =>
      (isClass(declared) && declared !== String) || ENUM_TYPES.has(declared) ? 'varchar' : undefined,
    to: (value, { enumNames }) =>
      typeof value === 'number' ? ((enumNames && storedName(enumNames, value)) ?? value) : value,
    from: (read, { enumNames }) =>
      enumNames?.labels === undefined
        ? (enumNames?.numberOf.get(read as string) ?? 0)
        : (enumNames.labels.fromLabel(String(read)) ?? read),
  },
  unread: () => ['a label', 'the enum in the message has no value for it'],
  mayBeUnread: ({ enumNames }) => enumNames?.labels !== undefined,
  form: ({ enumNames: { labels } = {} as never }: Facets) =>
    labels === undefined || labels.isNumber
      ? undefined
      : {
          toWire: (value) => labels.numberOf.get(value as string),
          fromWire: (value) => labels.fromNumber(value as number),
        },
  toJson: (value, { enumNames }) => {
    const number = enumNames?.labels?.numberOf.get(value as string) ?? (value as number)
    return enumNames?.nameOf.get(number) ?? number
  },
  isNested: false,
  isStoredAsText: true,
  isSmall: false,
  inside: {
    value: (json) => (typeof json === 'string' || typeof json === 'number' ? String(json) : undefined),
    zero: ({ enumNames }) => enumNames?.nameOf.get(0),
  },
  literal: ({ kind, text }, { enumNames }) => {
    if (kind !== 'word' && kind !== 'string' && kind !== 'number')
      return Misfit.takes('the name of an enum value')
    const { numberOf: names, nameOf, labels } = enumNames ?? {}
    const isLabel = labels !== undefined && kind === 'string' && labels.numberOf.has(text)
    // If two names have the same number, each is compared as it is.
    const isName = labels === undefined && kind !== 'number' && names?.has(text) !== false
    if (isLabel || isName) return text
    const number = kind !== 'number' ? names?.get(text) : INTEGER.test(text) ? Number(text) : undefined
    const stored = number === undefined ? undefined : (labels?.labelOf ?? nameOf)?.get(number)
    return stored ?? new Misfit((field, found) => `${field} has no value ${found}`, names?.keys())
  },
  isText: false,
  hasOrder: false,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  planValue: (value, { enumNames }) =>
    typeof value === 'number'
      ? ((enumNames && storedName(enumNames, value)) ?? String(value))
      : (value as PlanValue),
  isInCursor: isStoredText,
}

export function textLiteral({ kind, text }: Literal): string | Misfit {
  return kind === 'string' ? text : Misfit.takes('a string in double quotes')
}

/** Returns the reason why a kind cannot be incremented. */
export function noNumber(kind: string): string {
  return `increment() is for numbers, but the field is of type ${kind}`
}
