import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt'
import type { HeldForm, Kind, PlanValue, PropertyForm } from './kind.js'
import { byCodePoint } from '../../text/code-point-order.js'
import { isClass, managedAs } from './managed.js'
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
    heldAs: new Map<unknown, HeldForm>([
      [
        String,
        {
          what: 'an RFC 3339 time, such as "2026-03-04T05:06:07.089Z"',
          fromOwn: (time) => (time as Date).toISOString(),
          toOwn: (text) => (typeof text === 'string' ? parseTimestamp(text) : undefined),
        },
      ],
      [
        Number,
        {
          what: 'a number of milliseconds since 1970',
          fromOwn: (time) => (time as Date).getTime(),
          toOwn: (ms) => (typeof ms === 'number' && Number.isInteger(ms) ? new Date(ms) : undefined),
        },
      ],
    ]),
    precision: [6, 'a time has microseconds'],
  },
  problem: (value) => {
    if (!(value instanceof Date)) return 'must be a Date'
    return isWithin(value) ? undefined : 'must be a time from 1000-01-01 to 9999-12-31'
  },
  zero: () => undefined,
  filler: () => undefined,
  increments: noNumber('timestamp'),
  managed: managedAs(Date),
  fromWire: (value) => toDate(value as Timestamp),
  toWire: (value) => toTimestamp(value as Date),
  unread: () => ['a time', 'it is not a time in the years 1 to 9999'],
  mayBeUnread: ({ held }, isShared) => isShared || held !== undefined,
  isNested: false,
  isStoredAsText: false,
  isSmall: true,
  literal: ({ kind, text }) =>
    (kind === 'string' ? parseTimestamp(text) : undefined) ??
    Misfit.takes('an RFC 3339 timestamp in the years 1000 to 9999 in double quotes'),
  isText: false,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  isInCursor: (value) => isInstant(value) || isStoredTime(value),
  isForeign: (value) => typeof value === 'string',
}

/** Returns true for a valid date in the years that every engine supports. */
const isDay = (text: string): boolean => {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(text)) return false
  const time = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text)
}

const DAY = 'a date from 1000-01-01 to 9999-12-31'

const DATE_MESSAGE = 'google.type.Date'

/** A `google.type.Date`. Without a year, month or day it is not a calendar date. */
interface DateMessage {
  readonly year: number
  readonly month: number
  readonly day: number
}

const padded = (number: number, digits: number): string => String(number).padStart(digits, '0')

const OF_MESSAGE: PropertyForm = {
  toWire: (text) => {
    const [year = 0, month = 0, day = 0] = (text as string).split('-').map(Number)
    return { $typeName: DATE_MESSAGE, year, month, day }
  },
  fromWire: (message) => {
    const { year, month, day } = message as DateMessage
    return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`
  },
}

/** A string or a `google.type.Date` of the message, in a `date` column. */
export const date: Kind = {
  name: 'date',
  declared: {
    scalars: [],
    refines: ['string'],
    refinesMessage: DATE_MESSAGE,
    columnTypes: ['date'],
    holds: 'day',
    family: 'text',
    classes: [],
    property: () => 'string',
    fits: (type) => type === String,
  },
  problem: (value) =>
    typeof value === 'string' && isDay(value) ? undefined : `must be ${DAY}, such as 2026-03-04`,
  zero: ({ message }) => (message === undefined ? '' : undefined),
  form: ({ message }) => (message === undefined ? undefined : OF_MESSAGE),
  unread: () => ['a date', 'it is not a date in the years 1 to 9999'],
  mayBeUnread: () => true,
  filler: () => undefined,
  increments: noNumber('date'),
  key: {
    parse: (text) => (isDay(text) ? text : undefined),
    meant: dayMeant,
    takesUuid: () => false,
    // The year always has four digits; the month and the day have two.
    compare: byCodePoint,
  },
  managed: { type: (declared) => (isClass(declared) ? String : undefined) },
  isNested: false,
  isStoredAsText: false,
  isSmall: true,
  literal: ({ kind, text }) =>
    kind === 'string' && isDay(text) ? text : Misfit.takes(`${DAY} in double quotes, such as "2026-03-04"`),
  isText: false,
  hasOrder: true,
  isSortable: true,
  hasKeys: false,
  exceeds: () => false,
  isInCursor: (value) => isStoredTime(value),
  isForeign: (value) => typeof value === 'string' && !isDay(value),
}

/**
 * Returns the canonical form of a date, removing a time of midnight UTC and padding month and day. Undefined
 * if there is none.
 */
function dayMeant(text: string): string | undefined {
  const [, year, month, day] =
    text.length > MAX_STORED_TIME
      ? []
      : (/^\s*(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]00:00(?::00(?:\.0+)?)?Z?)?\s*$/.exec(text) ?? [])
  const canonical = [year, month?.padStart(2, '0'), day?.padStart(2, '0')].join('-')
  return isDay(canonical) ? canonical : undefined
}

/** Converts a Timestamp message to a Date. Fractions of a millisecond are truncated. */
export const toDate = (value: Timestamp): Date =>
  new Date(Number(value.seconds) * 1000 + Math.floor(value.nanos / 1_000_000))

/** Converts a Date to a Timestamp message. */
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

/** Returns true for a valid Date or number of microseconds. */
export function isInstant(value: PlanValue): boolean {
  if (value instanceof Date) return isWithin(value)
  if (typeof value !== 'bigint') return false
  return value >= BigInt(MIN_TIMESTAMP_MS) * 1000n && value < (BigInt(MAX_TIMESTAMP_MS) + 1n) * 1000n
}

/** The maximum length of a stored time that is not a valid instant. */
const MAX_STORED_TIME = 64

/**
 * Returns true for a stored time that is not a valid instant. Only the dialect knows whether the database can
 * compare it.
 */
const isStoredTime = (value: PlanValue): boolean => isStoredText(value) && value.length <= MAX_STORED_TIME
