import { ScalarType } from '@bufbuild/protobuf'
import type {
  Amount,
  Declaration,
  Facets,
  Increments,
  Kind,
  KindName,
  ManagedColumn,
  PlanValue,
  Range,
} from './kind.js'
import { NUMBER_INSIDE, withoutSign } from './fractions.js'
import { integerKey, type KeyRules } from './key-rules.js'
import { isClass, managedAs } from './managed.js'
import { INTEGER, type Literal, Misfit, NUMBER } from './literal.js'

/** The range of a 64-bit integer. */
export const INT64 = [-(2n ** 63n), 2n ** 63n - 1n] as const
export const UINT64 = [0n, 2n ** 64n - 1n] as const

export const INT32 = [-(2 ** 31), 2 ** 31 - 1] as const
export const UINT32 = [0, 2 ** 32 - 1] as const

/**
 * The TypeORM column of a bigint. Values are bound as strings, because drivers accept no bigint and return
 * strings or rounded numbers.
 */
export const MANAGED_BIGINT: ManagedColumn = {
  type: (declared) => (isClass(declared) ? 'bigint' : undefined),
  to: (value) => (typeof value === 'bigint' ? value.toString() : value),
  from: (read, { hasDigits, inProperty }) => {
    if (typeof read !== 'string' && typeof read !== 'number') return read
    if (inProperty === 'number') return Number(read)
    return hasDigits === true ? String(read) : BigInt(read)
  },
}

/** Reads a number, which a 64-bit column returns as a string. */
const MANAGED_NUMBER: ManagedColumn = {
  ...managedAs(Number),
  from: (read, { hasDigits }) => {
    if (hasDigits === true) return String(read)
    return typeof read === 'string' ? Number(read) : read
  },
}

/** The parts that integer kinds share. */
export const ofIntegers = (range: Range) => ({
  problem: (value: unknown, field: Facets) => integerProblem(field, range, value),
  filler: () => 0,
  increments: integerIncrements(range),
  isNested: false,
  isStoredAsText: false,
  isSmall: true,
  isText: false,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  isInCursor: (value: PlanValue) => integerProblem({}, range, value) === undefined,
  mayBeUnread: ({ inProperty }: Facets, isShared: boolean) => isShared || inProperty === 'number',
})

/** A 32-bit integer is a number, a 64-bit integer a bigint. */
function integerKind(name: KindName, range: Range, declared: Partial<Declaration>): Kind {
  const isWide = typeof range[0] === 'bigint'
  const [property, type] = isWide ? ['bigint', BigInt] : ['number', Number]
  const key = integerKey(range)
  return {
    ...ofIntegers(range),
    name,
    declared: {
      scalars: [],
      columnTypes: [],
      holds: property,
      family: 'integers',
      classes: [],
      property: () => property,
      fits: (designType) => designType === type,
      ...declared,
    },
    key,
    planValue: (value, field) => {
      if (typeof value === 'string' && field.hasDigits === true) return key.parse(value, field) as PlanValue
      return field.inProperty === 'number' ? BigInt(value as number | bigint) : (value as PlanValue)
    },
    zero: ({ hasDigits, inProperty }) => {
      if (inProperty !== undefined) return inProperty === 'string' ? '0' : 0
      return hasDigits === true ? '' : isWide ? 0n : 0
    },
    ...(isWide ? {} : { kept: withoutSign }),
    managed: isWide ? MANAGED_BIGINT : MANAGED_NUMBER,
    literal: (token, field) =>
      token.kind === 'string' && (field.takesText === true || field.hasDigits === true)
        ? (key.parse(token.text, field) ?? misspelt(key, token.text, field))
        : integerLiteral(name, field.range ?? range, token),
  }
}

export const int32: Kind = {
  ...integerKind('int32', INT32, {
    scalars: [ScalarType.INT32, ScalarType.SINT32, ScalarType.SFIXED32],
    columnTypes: ['int', 'integer', 'int4', 'smallint', 'int2', 'mediumint', 'tinyint'],
    unsigned: 'uint32',
    classes: [Number],
  }),
  inside: NUMBER_INSIDE,
}

export const uint32 = integerKind('uint32', UINT32, {
  scalars: [ScalarType.UINT32, ScalarType.FIXED32],
  isUnsigned: true,
})

/** True if its values fit into 32 bits. */
export const isIn32Bits = (kind: KindName): boolean => kind === int32.name || kind === uint32.name

export const int64 = integerKind('int64', INT64, {
  scalars: [ScalarType.INT64, ScalarType.SINT64, ScalarType.SFIXED64],
  columnTypes: ['bigint', 'int8'],
  unsigned: 'uint64',
  classes: [BigInt],
})

export const uint64 = integerKind('uint64', UINT64, {
  scalars: [ScalarType.UINT64, ScalarType.FIXED64],
  isUnsigned: true,
})

/** Reports a string that is not the canonical form of an integer key. */
const misspelt = ({ meant }: KeyRules, text: string, field: Facets): Misfit => {
  const canonical = meant(text, field)
  return Misfit.takes(
    canonical === undefined ? 'an integer in decimal' : `an integer in its canonical form, "${canonical}"`,
  )
}

function digitsProblem(field: Facets, range: Range, text: string): string | undefined {
  const { parse, meant } = integerKey(range)
  if (field.hasDigits === true && parse(text, field) !== undefined) return undefined
  const canonical = meant(text, field)
  if (canonical !== undefined) return `must be written as ${canonical}`
  const [least, most] = field.range ?? range
  return `must be an integer from ${least} to ${most}`
}

function integerProblem(field: Facets, widest: Range, value: unknown): string | undefined {
  if (typeof value === 'string' && (field.hasDigits === true || field.takesText === true))
    return digitsProblem(field, widest, value)
  const [least, most] = field.range ?? widest
  const type = field.inProperty ?? (field.hasDigits === true ? 'string' : typeof least)
  if (typeof value !== type) return `must be a ${type}, not a ${typeof value}`
  if ((type === 'bigint' || Number.isInteger(value)) && isWithin([least, most], value as Amount))
    return undefined
  return type === 'bigint'
    ? `must be from ${least} to ${most}`
    : `must be an integer from ${least} to ${most}`
}

const isWithin = ([least, most]: readonly [Amount, Amount], value: Amount): boolean =>
  value >= least && value <= most

function integerIncrements(range: Range): Increments {
  const isWide = typeof range[0] === 'bigint'
  return { range, amount: isWide ? wideAmount : narrowAmount }
}

function wideAmount(given: Amount): bigint | string {
  if (typeof given === 'bigint') return given
  if (Number.isSafeInteger(given)) return BigInt(given)
  return `increment(${given}) is ${Number.isInteger(given) ? 'inexact: pass a bigint' : 'not an integer, but the field is one'}`
}

function narrowAmount(given: Amount): number | string {
  return typeof given === 'bigint' || Number.isInteger(given)
    ? Number(given)
    : `increment(${given}) is not an integer, but the field is one`
}

function integerLiteral(name: string, range: Range, { kind, text }: Literal): Amount | Misfit {
  const value = kind === 'number' ? exactInteger(text) : undefined
  if (value === undefined) return Misfit.takes('an integer')
  if (!isWithin(range, value))
    return new Misfit((field) => `${field} takes ${name}, ${text.slice(0, 64)} is out of range`)
  return typeof range[0] === 'bigint' ? BigInt(value) : Number(value)
}

/**
 * Returns the integer that a number represents exactly (`10.0`, `1e3`); undefined if it is not an integer.
 * Infinite if it has more digits than any column can store. A short integer becomes a number, which is exact
 * and faster to compare; -0 becomes 0.
 */
function exactInteger(text: string): number | bigint | undefined {
  if (INTEGER.test(text)) return text.length < 16 ? Number(text) + 0 : BigInt(text)
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? []
  if (sign === undefined) return undefined
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return 0
  const significant = digits.replace(/0+$/, '')
  const zeros = digits.length - significant.length - fraction.length + Number(exponent)
  if (zeros < 0) return undefined
  if (significant.length + zeros > MAX_DIGITS) return sign === '-' ? -Infinity : Infinity
  return BigInt(sign + significant + '0'.repeat(zeros))
}

/** The maximum number of digits of an integer column. */
const MAX_DIGITS = 20

/** The 16-bit column types. */
export const SMALLINTS: ReadonlySet<unknown> = new Set(['smallint', 'int2'])
const SMALLINT = [-32_768, 32_767] as const
const UNSIGNED_SMALLINT = [0, 65_535] as const

/** Returns the range of a 16-bit column. */
export function narrowRange({ family, isUnsigned }: Declaration, type: unknown): Pick<Facets, 'range'> {
  if (family !== 'integers' || !SMALLINTS.has(type)) return {}
  return { range: isUnsigned === true ? UNSIGNED_SMALLINT : SMALLINT }
}
