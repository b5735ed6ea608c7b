import { fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { AshlarError, Internal } from '../../errors.js'
import { type Redaction, withoutSecrets } from '../../resource/redaction.js'
import type { Metadata } from '../../call.js'
import type { Call } from '../chain/call.js'
import { MAX_KEPT_BYTES, type Omission, type StoredReply, omittedReply } from './idempotency-store.js'

/**
 * Returns the response to store. If it is too large or cannot be searched for secrets, only the reason is
 * stored.
 */
export const toStored = (
  reply: Message,
  { method, headers, trailers }: Call,
  redaction: Redaction,
): StoredReply => {
  const { output } = method.desc
  const cleared = withoutSecrets(redaction, output, reply)
  if (!cleared.isWhole) return omittedReply('content')
  const message = toBinary(output, cleared.message)
  if (message.byteLength > MAX_KEPT_BYTES) return omittedReply('size')
  return {
    type: output.typeName,
    message,
    headers: ownEntries(headers),
    trailers: ownEntries(trailers),
  }
}

/**
 * Returns the stored response.
 * @throws AshlarError FAILED_PRECONDITION if the response was not stored.
 */
export const messageIn = (stored: StoredReply, { method }: Call): Message => {
  const { output } = method.desc
  if (stored.omitted !== undefined) throw notKept(stored.omitted)
  if (stored.type !== output.typeName)
    throw new Internal(new TypeError(`kept ${stored.type}, not ${output.typeName}`))
  return fromBinary(output, stored.message)
}

/** Sends the stored headers and trailers, and a header that marks the replay. */
export const sendHeaders = (stored: StoredReply, { headers, trailers }: Call): void => {
  for (const [name, value] of stored.headers) headers.append(name, value)
  for (const [name, value] of stored.trailers) trailers.append(name, value)
  headers.set('x-idempotent-replay', 'true')
}

const NOT_KEPT: Readonly<Record<Omission, readonly [reason: string, why: string]>> = {
  size: ['RESPONSE_TOO_LARGE', `is larger than ${MAX_KEPT_BYTES / 1024} KiB`],
  room: ['NO_ROOM_FOR_RESPONSE', "did not fit into this tenant's storage"],
  failure: ['RESPONSE_LOST', 'could not be written'],
  unknown: ['OUTCOME_UNKNOWN', 'was lost: the connection to the database was lost'],
  content: ['RESPONSE_UNREADABLE', 'contains a google.protobuf.Any of a type that the server does not know'],
}

const notKept = (omitted: Omission): AshlarError => {
  const [reason, why] = NOT_KEPT[omitted]
  const what = omitted === 'unknown' ? 'may have been made' : 'was made'
  const message = `the call with this request_id ${what} and its response was not stored, because it ${why}: read the resource instead of repeating the call`
  return new AshlarError('FAILED_PRECONDITION', message, { details: [{ kind: 'errorInfo', reason }] })
}

/** Returns all entries except the request id, because a replay has its own. */
const ownEntries = (metadata: Metadata): [string, string][] =>
  [...metadata.entries()].filter(([name]) => name !== 'x-request-id')
