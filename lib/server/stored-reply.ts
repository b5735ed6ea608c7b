import { fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { Internal } from '../errors.js'
import type { Metadata } from './call.js'
import type { Call } from './interceptor.js'
import { type IsSecret, redacted } from './redaction.js'
import type { StoredReply } from './stores/deduplication-store.js'

/** An answer as it is kept. */
export const toStored = (
  reply: Message,
  { method, headers, trailers }: Call,
  isSecret: IsSecret,
): StoredReply => {
  const { output } = method.desc
  return {
    type: output.typeName,
    message: toBinary(output, redacted(reply, output, isSecret)),
    headers: ownEntries(headers),
    trailers: ownEntries(trailers),
  }
}

/** The answer again, with what was sent around it, marked as a replay. */
export const fromStored = (stored: StoredReply, { method, headers, trailers }: Call): Message => {
  const { output } = method.desc
  if (stored.type !== output.typeName)
    throw new Internal(new TypeError(`kept ${stored.type}, not ${output.typeName}`))
  for (const [name, value] of stored.headers) headers.append(name, value)
  for (const [name, value] of stored.trailers) trailers.append(name, value)
  headers.set('x-idempotent-replay', 'true')
  return fromBinary(output, stored.message)
}

/** A replay has a request id of its own. */
const ownEntries = (metadata: Metadata): [string, string][] =>
  [...metadata.entries()].filter(([name]) => name !== 'x-request-id')
