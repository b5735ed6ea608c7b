import type { IncomingMessage } from 'node:http'
import { InvalidArgument } from '../../errors.js'
import { Metadata } from '../../call.js'
import { timeoutMs } from './grpc-timeout.js'

/** Headers that name the caller. They are trusted only where no token is verified. */
export const IDENTITY_HEADERS = ['account-id', 'subject', 'groups'] as const
/** Headers that a request may have once: with two values it would be ambiguous which one counts. */
export const SINGLE_HEADERS = ['authorization', 'account-id', 'subject', 'idempotency-key'] as const
const FORWARDED = [
  'authorization',
  'x-request-id',
  'if-match',
  'idempotency-key',
  'traceparent',
  'tracestate',
]

/** The names of the headers that become metadata. */
export const forwardedNames = (more: readonly string[]): readonly string[] => [
  ...new Set([...FORWARDED, ...IDENTITY_HEADERS, ...more.map((name) => name.toLowerCase())]),
]

/** The names of the metadata that becomes response headers. */
export const sentNames = (more: readonly string[]): readonly string[] => [
  'x-request-id',
  'x-idempotent-replay',
  'x-denied-because',
  ...more,
]

/** Whether a header can carry the text. */
export const isSendable = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text)

/** @throws InvalidArgument for a value that gRPC metadata cannot carry. */
export function metadataOf(request: IncomingMessage, names: readonly string[]): Metadata {
  const metadata = new Metadata()
  for (const name of names) {
    const value = request.headers[name]
    if (value === undefined) continue
    const values = SINGLE.has(name) ? valuesOf(request, name, value) : [value].flat()
    for (const each of values) {
      if (!/^[\x20-\x7e]*$/.test(each))
        throw new InvalidArgument('', `the header ${name} must be printable ASCII`)
      metadata.append(name, each)
    }
  }
  return metadata
}

const SINGLE: ReadonlySet<string> = new Set(SINGLE_HEADERS)

/** Node joins repeated headers or drops the second one. The chain must see both to refuse them. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string, value: string | string[]): string[] {
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '')
  return values.length > 1 ? values : [value].flat()
}

/** The caller's deadline from a `grpc-timeout` header, in milliseconds since the epoch. */
export function deadlineOf({ headers }: IncomingMessage, now: number): number | undefined {
  const given = headers['grpc-timeout']
  return given === undefined ? undefined : now + timeoutMs(String(given))
}
