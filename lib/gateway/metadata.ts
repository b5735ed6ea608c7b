import type { IncomingMessage } from 'node:http'
import { InvalidArgument } from '../errors.js'
import { Metadata } from '../server/call.js'

/** Headers that say who is calling, believed only where nothing verifies a token. */
const IDENTITY = ['account-id', 'subject', 'groups']
const FORWARDED = [
  'authorization',
  'x-request-id',
  'if-match',
  'idempotency-key',
  'traceparent',
  'tracestate',
]

/** The names of the headers that become metadata. What drops identity headers drops them among the further ones, too. */
export const forwardedNames = (dropIdentity: boolean, more: readonly string[] = []): readonly string[] => {
  const names = [...FORWARDED, ...IDENTITY, ...more.map((name) => name.toLowerCase())]
  return [...new Set(names)].filter((name) => !dropIdentity || !IDENTITY.includes(name))
}

/** @throws InvalidArgument for a value that gRPC metadata could not carry. */
export function metadataOf({ headers }: IncomingMessage, names: readonly string[]): Metadata {
  const metadata = new Metadata()
  for (const name of names) {
    const value = headers[name]
    if (value === undefined) continue
    for (const each of typeof value === 'string' ? [value] : value) {
      if (!/^[\x20-\x7e]*$/.test(each))
        throw new InvalidArgument('', `the header ${name} must be printable ASCII`)
      metadata.append(name, each)
    }
  }
  return metadata
}

const UNITS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
}

/** The caller's deadline from a `grpc-timeout` header, in milliseconds since the epoch. */
export function deadlineOf({ headers }: IncomingMessage, now: number): number | undefined {
  const given = headers['grpc-timeout']
  if (given === undefined) return undefined
  const [, amount, unit] = /^([0-9]{1,8})([HMSmun])$/.exec(String(given)) ?? []
  if (amount === undefined || unit === undefined)
    throw new InvalidArgument('', 'the header grpc-timeout must be digits and a unit, such as 500m')
  return now + Number(amount) * (UNITS[unit] ?? 0)
}
