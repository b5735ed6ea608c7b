import { toJson } from '@bufbuild/protobuf'
import { type Duration, DurationSchema } from '@bufbuild/protobuf/wkt'
import { INT64, MANAGED_BIGINT, ofIntegers } from './integers.js'
import type { Kind } from './kind.js'
import { Misfit } from './literal.js'

/**
 * A duration in nanoseconds. The column's 64 bits limit the range to 292 years; google.protobuf.Duration
 * allows 10,000.
 */
export const duration: Kind = {
  ...ofIntegers(INT64),
  name: 'duration',
  storedAs: 'int64',
  declared: {
    scalars: [],
    message: DurationSchema.typeName,
    columnTypes: [],
    holds: 'duration',
    family: 'integers',
    classes: [],
    property: () => 'bigint (nanoseconds)',
    fits: (type) => type === BigInt,
  },
  zero: () => undefined,
  managed: MANAGED_BIGINT,
  fromWire: (value) => toNanoseconds(value as Duration),
  toWire: (value) => toDuration(value as bigint),
  toJson: (value) => toJson(DurationSchema, toDuration(value as bigint)),
  literal: ({ kind, text }) =>
    (kind === 'string' || kind === 'number' ? parseDuration(text) : undefined) ??
    Misfit.takes('seconds such as "1.5s", at most 292 years'),
}

const NANOS_PER_SECOND = 1_000_000_000n

/** Converts a Duration message to nanoseconds. */
export const toNanoseconds = (value: Duration): bigint =>
  value.seconds * NANOS_PER_SECOND + BigInt(value.nanos)

/** Converts nanoseconds to a Duration message, whose two parts both have the sign. */
const toDuration = (value: bigint): Duration =>
  ({
    $typeName: DurationSchema.typeName,
    seconds: value / NANOS_PER_SECOND,
    nanos: Number(value % NANOS_PER_SECOND),
  }) as Duration

const DURATION = /^(-?)(\d{1,10})(?:\.(\d{1,9}))?s$/

/** At most 292 years plus a fraction of a second fit into 64 bits of nanoseconds. */
function parseDuration(text: string): bigint | undefined {
  const parts = DURATION.exec(text)
  if (parts === null) return undefined
  const nanos = BigInt(parts[2] ?? 0) * NANOS_PER_SECOND + BigInt((parts[3] ?? '').padEnd(9, '0'))
  const value = parts[1] === '-' ? -nanos : nanos
  return value >= INT64[0] && value <= INT64[1] ? value : undefined
}
