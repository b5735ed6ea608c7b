import { ScalarType } from '@bufbuild/protobuf'
import type { InsideJson, Kind, KindName, PlanValue } from './kind.js'
import { isClass } from './managed.js'
import { type Literal, Misfit, NUMBER } from './literal.js'

/** A number inside of JSON. */
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
      if (typeof value !== 'number') return `has to be a number, not a ${typeof value}`
      if (Number.isFinite(kept(value))) return undefined
      return `has to be a finite ${bits === 32 ? '32-bit ' : ''}number`
    },
    zero: () => 0,
    filler: () => 0,
    managed: {
      // As a number it would be cut to an integer.
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
  } as const
}

/** Databases keep 0 for -0. */
export const withoutSign = (value: unknown): unknown => (value === 0 ? 0 : value)

/** Another writer can store NaN and infinities. */
export function isInfinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value)
}

export const float: Kind = {
  ...fractionKind('float', { scalar: ScalarType.FLOAT, columnTypes: ['real', 'float4'], bits: 32 }),
  increments:
    'increment() is not for a float: databases round sums of single precision differently; use a double, or modify()',
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
      return `increment(${given}n) is not a double: give a number`
    },
  },
  inside: NUMBER_INSIDE,
}
