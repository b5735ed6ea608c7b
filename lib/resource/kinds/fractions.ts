import { ScalarType } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import type { DecimalFacet, Facets, InsideJson, Kind, KindName, PlanValue, PropertyForm } from './kind.js'
import { isClass } from './managed.js'
import { StoredLiteral } from './stored-literal.js'
import { type Literal, Misfit, NUMBER } from './literal.js'

/** A number inside JSON. */
export const NUMBER_INSIDE: InsideJson = {
  value: (json) => (typeof json === 'number' ? json : undefined),
  zero: () => 0,
}

interface Fraction {
  readonly scalar: ScalarType
  readonly columnTypes: readonly string[]
  readonly bits: 32 | 64
}

function fractionKind(name: KindName, { scalar, columnTypes, bits }: Fraction) {
  const kept = (value: number): number => (bits === 32 ? Math.fround(value) : value)
  return {
    name,
    declared: {
      scalars: [scalar],
      columnTypes,
      holds: `fractions of ${bits} bits`,
      family: 'fractions',
      classes: [],
      property: () => 'number',
      fits: (type: unknown) => type === Number,
    },
    problem: (value: unknown) => {
      if (typeof value !== 'number') return `must be a number, not a ${typeof value}`
      if (Number.isFinite(kept(value))) return undefined
      return `must be a finite ${bits === 32 ? '32-bit ' : ''}number`
    },
    zero: () => 0,
    filler: () => 0,
    managed: {
      // TypeORM's type Number would truncate it to an integer.
      type: (declared: unknown) => (isClass(declared) ? 'double precision' : undefined),
      from: (read: unknown) => kept(Number(read)),
    },
    isNested: false,
    isStoredAsText: false,
    isSmall: true,
    literal: ({ kind, text }: Literal) => {
      if (kind !== 'number' || !NUMBER.test(text)) return Misfit.takes('a number')
      const value = kept(Number(text))
      return Number.isFinite(value)
        ? value
        : new Misfit((field) => `${field} takes ${name}, ${text.slice(0, 64)} is out of range`)
    },
    isText: false,
    hasOrder: true,
    isSortable: true,
    hasKeys: false,
    exceeds: () => false,
    isInCursor: (value: PlanValue) => typeof value === 'number' && Object.is(kept(value), value),
    isForeign: isInfinite,
    mayBeUnread: (_: Facets, isShared: boolean) => isShared,
  } as const
}

/** Replaces -0 with 0, as databases do. */
export const withoutSign = (value: unknown): unknown => (value === 0 ? 0 : value)

/** True for NaN and infinities, which another writer can store. */
export function isInfinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value)
}

export const float: Kind = {
  ...fractionKind('float', { scalar: ScalarType.FLOAT, columnTypes: ['real', 'float4'], bits: 32 }),
  increments:
    'increment() does not support float: databases round single-precision sums differently; use a double, or modify()',
  kept: (value) => withoutSign(Math.fround(value as number)),
  planValue: (value) => (typeof value === 'number' ? Math.fround(value) : (value as PlanValue)),
}

export const double: Kind = {
  kept: withoutSign,
  ...fractionKind('double', {
    scalar: ScalarType.DOUBLE,
    columnTypes: ['double', 'double precision', 'float', 'float8'],
    bits: 64,
  }),
  increments: {
    range: [-Number.MAX_VALUE, Number.MAX_VALUE],
    amount: (given) => {
      const by = Number(given)
      if (typeof given === 'number' || (Number.isFinite(by) && BigInt(by) === given)) return by
      return `increment(${given}n) is not a double: pass a number`
    },
  },
  inside: NUMBER_INSIDE,
}

const DECIMAL_MESSAGE = 'google.type.Decimal'
/** The number of decimal places compared if a column states no scale. */
const MAX_FRACTION = 30
/** The number of digits that a JavaScript number represents exactly. */
const NUMBER_DIGITS = 15

/** @param inProperty - the property's type; the message has the same type unless stated otherwise. */
export const decimalFacet = (
  inProperty: DecimalFacet['inProperty'],
  { precision, scale }: ColumnOptions,
  inMessage: DecimalFacet['inMessage'] = inProperty,
): DecimalFacet => ({
  precision: precision ?? undefined,
  // SQL stores no decimal places unless a scale is stated.
  scale: scale ?? (precision === undefined || precision === null ? undefined : 0),
  inProperty,
  inMessage,
})

const facetOf = ({ decimal: facet }: Facets): DecimalFacet =>
  facet ?? { precision: undefined, scale: undefined, inProperty: 'string', inMessage: 'string' }

/**
 * Returns the value times ten to the power of the scale; undefined for a string that is not a number or has
 * more decimal places.
 */
function scaled(text: string, scale = MAX_FRACTION): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? []
  if (sign === undefined || Math.abs(Number(exponent)) > MAX_FRACTION * 4) return undefined
  const zeros = scale - fraction.length + Number(exponent)
  const digits = whole + fraction
  if (zeros >= 0) return BigInt(`${sign}${digits}${'0'.repeat(zeros)}`)
  const [kept, cut] = [digits.slice(0, zeros), digits.slice(zeros)]
  return /^0*$/.test(cut) ? BigInt(`${sign}${kept === '' ? '0' : kept}`) : undefined
}

function textOfScaled(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  const [whole, fraction] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)]
  return `${value < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${fraction}`}`
}

/** Returns the value of an entity or plan in the form that databases accept. */
export function decimalText(value: unknown, field: Facets): string {
  const { scale } = facetOf(field)
  if (typeof value === 'bigint') return textOfScaled(value, scale ?? MAX_FRACTION)
  const text = String(value)
  const exact = scaled(text, scale)
  return exact === undefined || scale === undefined ? text : textOfScaled(exact, scale)
}

/** Returns a stored value for a page token; a value that the field cannot hold is a literal. */
export const exactDecimal = (text: string, field: Facets): PlanValue =>
  scaled(text, facetOf(field).scale) ?? StoredLiteral.of(text) ?? StoredLiteral.ofText(text)

/** Returns a stored value in the entity's form; undefined if the entity cannot hold it. */
export function decimalOf(text: string, field: Facets): string | number | undefined {
  const { scale, inProperty } = facetOf(field)
  if (scaled(text, MAX_FRACTION) === undefined) return undefined
  if (inProperty === 'number') return isExact(Number(text), text) ? Number(text) : undefined
  const exact = scaled(text, scale)
  return exact === undefined || scale === undefined ? text : textOfScaled(exact, scale)
}

const isExact = (number: number, text: string): boolean =>
  scaled(number.toPrecision(NUMBER_DIGITS)) === scaled(text)

function decimalProblem(value: unknown, field: Facets): string | undefined {
  const { precision, scale, inProperty } = facetOf(field)
  if (typeof value !== inProperty) return `must be a ${inProperty}, not a ${typeof value}`
  const text = String(value)
  if (scaled(text) === undefined) return 'must be a decimal number, such as "12.50"'
  if (typeof value === 'number' && !isExact(value, text)) return `has more than ${NUMBER_DIGITS} digits`
  const exact = scaled(text, scale)
  if (exact === undefined) return `has more than ${scale ?? 0} digits after the point`
  if (precision === undefined || String(exact).replace('-', '').length <= precision) return undefined
  return `has more than ${precision - (scale ?? 0)} digits before the point`
}

/** An exact decimal, in a column of the type decimal or numeric. */
export const decimal: Kind = {
  name: 'decimal',
  declared: {
    scalars: [],
    columnTypes: ['decimal', 'numeric'],
    refines: ['string', 'double', 'float'],
    refinesMessage: DECIMAL_MESSAGE,
    takesPrecision: true,
    holds: 'decimal',
    family: 'decimals',
    classes: [],
    property: () => 'string, or number with at most 15 digits',
    fits: (type) => type === String || type === Number,
  },
  problem: decimalProblem,
  zero: (field) => (facetOf(field).inProperty === 'number' ? 0 : textOfScaled(0n, facetOf(field).scale ?? 0)),
  filler: () => 0,
  unread: () => ['a decimal', 'it is not finite, or has more digits than the property holds'],
  mayBeUnread: () => true,
  increments: 'increment() does not support decimals: use modify()',
  kept: (value, field) => decimalOf(decimalText(value, field), field),
  form: decimalForm,
  managed: {
    type: () => undefined,
    from: (read, field) =>
      typeof read === 'string' || typeof read === 'number' ? (decimalOf(String(read), field) ?? read) : read,
  },
  isNested: false,
  isStoredAsText: false,
  isSmall: true,
  literal: ({ kind, text }, field) => {
    const value = kind === 'number' || kind === 'string' ? scaled(text, facetOf(field).scale) : undefined
    return (
      value ??
      Misfit.takes(`a number with at most ${facetOf(field).scale ?? MAX_FRACTION} digits after the point`)
    )
  },
  isText: false,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  planValue: (value, field) => (typeof value === 'bigint' ? value : exactDecimal(String(value), field)),
  isInCursor: (value) => typeof value === 'bigint',
}

/** An empty string is an unset field. Other strings are left unchanged, so that the check can report them. */
function decimalForm(field: Facets): PropertyForm | undefined {
  const { inProperty, inMessage } = facetOf(field)
  if (inMessage === 'number')
    return inProperty === 'number'
      ? undefined
      : { toWire: Number, fromWire: (value) => decimalText(value, field) }
  const held = (text: string): unknown => {
    if (inProperty === 'string') return decimalText(text, field)
    return scaled(text) === undefined ? text : Number(text)
  }
  if (inMessage === 'string')
    return {
      toWire: (value) => decimalText(value, field),
      fromWire: (value) => (value === '' ? undefined : held(value as string)),
    }
  return {
    toWire: (value) => ({ $typeName: DECIMAL_MESSAGE, value: decimalText(value, field) }),
    // An empty value is zero.
    fromWire: (message) => held((message as { readonly value: string }).value || '0'),
  }
}
