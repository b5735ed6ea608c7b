import type { PlanColumn, PlanValue } from './plan.js'
import { type FilterTokens, quoted } from './filter-tokens.js'
import { didYouMean } from '../../text/nearest-names.js'
import { parseTimestamp } from './rfc3339.js'

/**
 * The current token as a value of the column's type. Does not move on.
 * @throws InvalidArgument with the position when the column cannot hold it.
 */
export const typedLiteral = (tokens: FilterTokens, field: string, column: PlanColumn): PlanValue => {
  const { kind, text } = tokens
  switch (column.kind) {
    case 'string':
    case 'tags':
      return kind === 'string' ? text : mismatch(tokens, field, 'text in double quotes')
    case 'bool':
      if (kind === 'word' && (text === 'true' || text === 'false')) return text === 'true'
      return mismatch(tokens, field, 'true or false')
    case 'enum':
      return enumName(tokens, field, column)
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return integer(tokens, field, column.kind)
    case 'float':
    case 'double':
      return float(tokens, field, column.kind)
    case 'timestamp':
      return (
        (kind === 'string' ? parseTimestamp(text) : undefined) ??
        mismatch(tokens, field, 'an RFC 3339 timestamp of the years 1000 to 9999 in double quotes')
      )
    case 'duration':
      return (
        (kind === 'string' || kind === 'number' ? parseDuration(text) : undefined) ??
        mismatch(tokens, field, 'seconds such as "1.5s", at most 292 years')
      )
    case 'bytes':
      return (
        (kind === 'string' ? parseBase64(text) : undefined) ??
        mismatch(tokens, field, 'base64 in double quotes')
      )
    case 'json':
      return mismatch(tokens, field, 'null alone')
    case 'any':
      return asWritten(tokens, field)
  }
}

/** The current token as an element of a list, as proto3 JSON writes it. @throws InvalidArgument as {@link typedLiteral}. */
export const elementLiteral = (
  tokens: FilterTokens,
  field: string,
  element: Pick<PlanColumn, 'kind' | 'enumNames'>,
): string | number | boolean => {
  const value = typedLiteral(tokens, field, { column: '', nullable: false, ...element })
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return value instanceof Date ? value.toISOString() : value
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const DURATION = /^(-?)(\d{1,10})(?:\.(\d{1,9}))?s$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Inclusive bounds of each integer width. */
export const INTEGER_BOUNDS = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
} as const

const NUMBER_BOUNDS = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [-Number.MAX_VALUE, Number.MAX_VALUE],
  uint64: [0, Number.MAX_VALUE],
} as const

/** With at most 292 years, a fraction of a second keeps nanoseconds within 64 bits. */
const NANOS_PER_SECOND = 1_000_000_000n

const isWithinBounds = (kind: keyof typeof INTEGER_BOUNDS, value: bigint): boolean => {
  const [min, max] = INTEGER_BOUNDS[kind]
  return value >= min && value <= max
}

const mismatch = (tokens: FilterTokens, field: string, takes: string): never =>
  tokens.fail(`${quoted(field)} takes ${takes}, not ${tokens.found}`)

const enumName = (tokens: FilterTokens, field: string, column: PlanColumn): string => {
  const { kind, text } = tokens
  const name = kind === 'number' ? column.enumNames?.nameOf.get(Number(text)) : undefined
  if (name !== undefined && INTEGER.test(text)) return name
  if (kind !== 'word' && kind !== 'string' && kind !== 'number')
    return mismatch(tokens, field, 'the name of an enum value')
  const names = column.enumNames?.numberOf
  if (kind !== 'number' && (names === undefined || names.has(text))) return text
  return tokens.fail(
    `${quoted(field)} has no value ${quoted(text)}`,
    undefined,
    didYouMean(text, names?.keys() ?? []),
  )
}

const integer = (tokens: FilterTokens, field: string, kind: keyof typeof INTEGER_BOUNDS): number | bigint => {
  const { text } = tokens
  if (tokens.kind !== 'number') return mismatch(tokens, field, 'an integer')
  const value = exactInteger(text)
  if (value === undefined) return mismatch(tokens, field, 'an integer')
  const isWide = kind === 'int64' || kind === 'uint64'
  const [min, max] = NUMBER_BOUNDS[kind]
  const isWithin = typeof value === 'number' ? value >= min && value <= max : isWithinBounds(kind, value)
  if (!isWithin) return tokens.fail(`${quoted(field)} takes ${kind}, ${text.slice(0, 64)} is out of range`)
  return isWide ? BigInt(value) : Number(value)
}

/**
 * The integer that a number is exactly (`10.0`, `1e3`), infinite when it has more digits than any column holds;
 * undefined when it is not an integer. Few digits become a number, which is exact then and cheaper to compare; -0
 * becomes 0.
 */
const exactInteger = (text: string): number | bigint | undefined => {
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

/** No integer column has more. */
const MAX_DIGITS = 20

const float = (tokens: FilterTokens, field: string, kind: 'float' | 'double'): number => {
  const { text } = tokens
  if (tokens.kind !== 'number' || !NUMBER.test(text)) return mismatch(tokens, field, 'a number')
  const value = kind === 'float' ? Math.fround(Number(text)) : Number(text)
  if (!Number.isFinite(value))
    return tokens.fail(`${quoted(field)} takes ${kind}, ${text.slice(0, 64)} is out of range`)
  return value
}

const parseDuration = (text: string): bigint | undefined => {
  const parts = DURATION.exec(text)
  if (parts === null) return undefined
  const nanos = BigInt(parts[2] ?? 0) * NANOS_PER_SECOND + BigInt((parts[3] ?? '').padEnd(9, '0'))
  const value = parts[1] === '-' ? -nanos : nanos
  return isWithinBounds('int64', value) ? value : undefined
}

/** Strict: `Buffer.from` ignores unknown characters, so that two texts would mean the same bytes. */
const parseBase64 = (text: string): Uint8Array | undefined => {
  if (!BASE64.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

const asWritten = (tokens: FilterTokens, field: string): PlanValue => {
  const { kind, text } = tokens
  if (kind === 'string') return text
  if (kind === 'word' && (text === 'true' || text === 'false')) return text === 'true'
  if (kind !== 'number' || !NUMBER.test(text))
    return mismatch(tokens, field, 'a number, or text in double quotes')
  const value = Number(text)
  if (!Number.isFinite(value)) return tokens.fail(`${quoted(text)} is out of range`)
  if (!INTEGER.test(text) || Number.isSafeInteger(value)) return value
  const wide = BigInt(text)
  if (wide >= INTEGER_BOUNDS.int64[0] && wide <= INTEGER_BOUNDS.uint64[1]) return wide
  return tokens.fail(`${quoted(text)} is out of range`)
}
