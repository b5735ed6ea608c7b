import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt'
import type { Kind, PlanValue } from './kind.js'
import { managedAs } from './managed.js'
import { Misfit } from './literal.js'
import { MAX_TIMESTAMP_MS, MIN_TIMESTAMP_MS, parseTimestamp } from '../../text/rfc3339.js'
import { isStoredText, noNumber } from './text.js'

export const timestamp: Kind = {
  name: 'timestamp',
  declared: {
    scalars: [],
    message: TimestampSchema.typeName,
    columnTypes: [
      'timestamp',
      'timestamptz',
      'timestamp with time zone',
      'timestamp without time zone',
      'datetime',
    ],
    holds: 'Date',
    family: 'times',
    classes: [Date],
    property: () => 'Date',
    fits: (type) => type === Date,
    precision: [6, 'a time has microseconds'],
  },
  problem: (value) => {
    if (!(value instanceof Date)) return 'has to be a Date'
    return isWithin(value) ? undefined : 'has to be a time from 1000-01-01 to 9999-12-31'
  },
  zero: () => undefined,
  filler: () => undefined,
  increments: noNumber('timestamp'),
  managed: managedAs(Date),
  fromWire: (value) => toDate(value as Timestamp),
  toWire: (value) => toTimestamp(value as Date),
  isNested: false,
  isStoredAsText: false,
  isSmall: true,
  literal: ({ kind, text }) =>
    (kind === 'string' ? parseTimestamp(text) : undefined) ??
    Misfit.takes('an RFC 3339 timestamp of the years 1000 to 9999 in double quotes'),
  isText: false,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  isInCursor: (value) => isInstant(value) || isStoredTime(value) || Number.isFinite(value),
  isForeign: (value) => typeof value === 'string' || typeof value === 'number',
}

/** Timestamp message → Date; fractions of a millisecond are cut. */
export const toDate = (value: Timestamp): Date =>
  new Date(Number(value.seconds) * 1000 + Math.floor(value.nanos / 1_000_000))

/** Date → Timestamp message. */
export function toTimestamp(value: Date): Timestamp {
  const ms = value.getTime()
  const seconds = Math.floor(ms / 1000)
  return {
    $typeName: TimestampSchema.typeName,
    seconds: BigInt(seconds),
    nanos: (ms - seconds * 1000) * 1_000_000,
  } as Timestamp
}

const isWithin = (value: Date): boolean =>
  value.getTime() >= MIN_TIMESTAMP_MS && value.getTime() <= MAX_TIMESTAMP_MS

/** A Date, or microseconds. */
export function isInstant(value: PlanValue): boolean {
  if (value instanceof Date) return isWithin(value)
  if (typeof value !== 'bigint') return false
  return value >= BigInt(MIN_TIMESTAMP_MS) * 1000n && value < (BigInt(MAX_TIMESTAMP_MS) + 1n) * 1000n
}

/** The longest text of a stored time that is not a valid instant. */
const MAX_STORED_TIME = 64

/** Only the dialect knows which of these a database can compare. */
const isStoredTime = (value: PlanValue): boolean => isStoredText(value) && value.length <= MAX_STORED_TIME
