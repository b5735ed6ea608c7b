import { createHash } from 'node:crypto'
import { printable } from '../../text/printable.js'
import { shownValue } from '../../text/shown-value.js'

/** The events to follow. An omitted property matches any value. */
export interface EventSubject {
  /** The tenant. An empty string matches the events of all tenants. */
  readonly tenant?: string
  /** The resource type, such as `order`. */
  readonly resource?: string
  /** The verb, such as `paid`. */
  readonly verb?: string
}

const PLAIN = /^[A-Za-z0-9_-]+$/
const LONGEST_TOKEN = 400

/**
 * Encodes a string as one token of a NATS subject. Different strings have different tokens. Letters, digits,
 * `_` and `-` are unchanged; other UTF-8 bytes become `=XX`. The empty string becomes `_`, and the string `_`
 * becomes `=5F`. A long string becomes `==` and its digest.
 */
export function subjectToken(text: string): string {
  if (text === '') return '_'
  if (text === '_') return '=5F'
  if (text.length <= LONGEST_TOKEN && PLAIN.test(text)) return text
  // UTF-8 cannot encode a lone surrogate, which would become a different string.
  const token = text.isWellFormed() ? escaped(text) : undefined
  if (token !== undefined && token.length <= LONGEST_TOKEN) return token
  const bytes = Buffer.from(text, text.isWellFormed() ? 'utf8' : 'utf16le')
  return `==${createHash('sha256').update(bytes).digest('hex')}`
}

const escaped = (text: string): string => {
  let token = ''
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte)
    token += PLAIN.test(character) ? character : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return token
}

/** Returns the subject `<prefix>.<tenant>.<resource>.<verb>`. */
export const subjectOf = (prefix: string, { tenant, resource, verb }: Required<EventSubject>): string =>
  [prefix, ...[tenant, resource, verb].map(subjectToken)].join('.')

/** Returns the NATS subject filter of the events to follow. */
export const subjectFilter = (prefix: string, { tenant, resource, verb }: EventSubject): string =>
  [prefix, ...[tenant, resource, verb].map((one) => (one === undefined ? '*' : subjectToken(one)))].join('.')

/** Returns a description for messages: `booking.created`, `booking.*` or `all events`. */
export const shownSubject = ({ tenant, resource, verb }: EventSubject): string => {
  const type = resource ?? verb
  const shown = type === undefined ? 'all events' : printable(`${resource ?? '*'}.${verb ?? '*'}`)
  return tenant === undefined ? shown : `${shown} of the tenant ${shownValue(tenant)}`
}

/** Returns true if the subject includes the event. */
export const isFollowed = (
  { tenant, resource, verb }: EventSubject,
  event: Required<EventSubject>,
): boolean =>
  (tenant === undefined || tenant === event.tenant) &&
  (resource === undefined || resource === event.resource) &&
  (verb === undefined || verb === event.verb)
