import type { Call } from './call.js'
import { EntityReply, type SingleReply } from './entity-reply.js'
import type { Reply } from './interceptor.js'

/**
 * Encodes a unary reply for its listener and sets the trailer `etag`. The listener encodes and checks streams
 * message by message.
 * @throws Error if the reply cannot be encoded or exceeds `maxBytes`.
 */
export const encoded =
  (maxBytes: number) =>
  (call: Call, reply: Reply): SingleReply => {
    if (Symbol.asyncIterator in reply)
      throw new TypeError(`${call.path} returned a stream, but has one response`)
    announceEtag(call, reply)
    call.incoming.encode(reply, maxBytes)
    return reply
  }

/** Sets the trailer `etag` unless it is set. A read mask may remove the etag from the reply itself. */
export const announceEtag = ({ method, trailers }: Call, reply: SingleReply): void => {
  const current = reply instanceof EntityReply ? reply.etag : (method.responseEtag?.(reply) ?? '')
  if (current !== '' && trailers.get('etag') === undefined) trailers.set('etag', current)
}
