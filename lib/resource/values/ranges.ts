import type { FieldKind } from '../fields/field.js'

/** The kinds that hold integers. */
export type IntegerKind = Extract<FieldKind, 'int32' | 'uint32' | 'int64' | 'uint64' | 'duration'>

/** The least and the most that a field of the kind holds, as entities hold it. */
export type Range = readonly [number, number] | readonly [bigint, bigint]

const INT64 = [-(2n ** 63n), 2n ** 63n - 1n] as const

/**
 * 10,000 years, the range of google.protobuf.Duration, would overflow 64 bits in nanoseconds. The column's range counts.
 */
export const INTEGER_RANGES = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: INT64,
  uint64: [0n, 2n ** 64n - 1n],
  duration: INT64,
} as const satisfies Readonly<Record<IntegerKind, Range>>
