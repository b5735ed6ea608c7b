import type { IncomingMessage } from 'node:http'
import { InvalidArgument } from '../../errors.js'
import { Metadata } from '../../call.js'
import { timeoutMs } from './grpc-timeout.js'

/** Headers that identify the caller. They are trusted only if no token is verified. */
export const IDENTITY_HEADERS = ['account-id', 'subject', 'groups'] as const
/** Headers that a request may send only once, because two values would be ambiguous. */
export const SINGLE_HEADERS = ['authorization', 'account-id', 'subject', 'idempotency-key'] as const
const FORWARDED = [
  'authorization',
  'x-request-id',
  'if-match',
  'idempotency-key',
  'traceparent',
  'tracestate',
]

/** Returns the names of the headers that become metadata. */
export const forwardedNames = (more: readonly string[]): readonly string[] => [
  ...new Set([...FORWARDED, ...IDENTITY_HEADERS, ...more.map((name) => name.toLowerCase())]),
]

/** Returns the names of the metadata that becomes response headers. */
export const sentNames = (more: readonly string[]): readonly string[] => [
  'x-request-id',
  'x-idempotent-replay',
  'x-denied-because',
  ...more.map((name) => name.toLowerCase()),
]

/**
 * Headers that grpc-gateway clients send as metadata with the prefix `Grpc-Metadata-`, by their prefixed
 * names. Headers that identify a caller are excluded, because a proxy that removes `groups` does not know
 * `Grpc-Metadata-Groups`.
 */
export const PREFIXED_HEADERS = [
  'if-match',
  'if-none-match',
  'idempotency-key',
  'x-request-id',
  'traceparent',
  'tracestate',
].map((name) => [`grpc-metadata-${name}`, name] as const)

/**
 * Copies the value of a prefixed header to the header itself.
 * @throws InvalidArgument if the two values differ.
 */
export function takePrefixed({ headers, rawHeaders }: IncomingMessage, prefixed: string, name: string): void {
  const values = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === prefixed) values.add(rawHeaders[at + 1] ?? '')
  const own = headers[name]
  if (own !== undefined) values.add(String(own))
  if (values.size > 1) {
    // The response then gets a new id.
    if (name === 'x-request-id') delete headers[name]
    throw new InvalidArgument('', `the headers ${name} and ${prefixed} have different values`)
  }
  headers[name] = headers[prefixed]
}

/** Returns true if a header can contain the string. */
export const isSendable = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text)

/**
 * Returns the metadata of a request.
 * @throws InvalidArgument for a value that gRPC metadata cannot contain.
 */
export function metadataOf(request: IncomingMessage, names: readonly string[]): Metadata {
  const metadata = new Metadata()
  const { headers } = request
  for (const name of names) {
    const value = headers[name]
    if (value === undefined) continue
    const repeated = SINGLE.has(name) ? repeatedOf(request, name) : undefined
    if (repeated === undefined && typeof value === 'string') metadata.append(name, printable(name, value))
    else for (const each of repeated ?? value) metadata.append(name, printable(name, each))
  }
  return metadata
}

const SINGLE: ReadonlySet<string> = new Set(SINGLE_HEADERS)
const PRINTABLE = /^[\x20-\x7e]*$/

const printable = (name: string, value: string): string => {
  if (PRINTABLE.test(value)) return value
  throw new InvalidArgument('', `the header ${name} must be printable ASCII`)
}

/**
 * Returns the values of a header that was sent more than once. Node joins them or drops the second one, but
 * the chain must receive both to reject them.
 */
function repeatedOf({ rawHeaders }: IncomingMessage, name: string): readonly string[] | undefined {
  let first: number | undefined
  let values: string[] | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? ''
    if (given.length !== name.length || given.toLowerCase() !== name) continue
    if (first === undefined) first = at + 1
    else (values ??= [rawHeaders[first] ?? '']).push(rawHeaders[at + 1] ?? '')
  }
  return values
}

/** Returns the caller's deadline from a `grpc-timeout` header, in milliseconds since the epoch. */
export function deadlineOf({ headers }: IncomingMessage): number | undefined {
  const given = headers['grpc-timeout']
  return given === undefined ? undefined : Date.now() + timeoutMs(String(given))
}
