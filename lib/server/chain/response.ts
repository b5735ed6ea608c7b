import type { Call } from './call.js'
import { EntityReply, type SingleReply } from './entity-reply.js'
import type { Reply } from './interceptor.js'

/**
 * Has the response of a unary call encoded for its listener, with the etag of the reply as the trailer
 * `etag`. A stream is encoded and checked message by message, by its listener.
 * @throws Error for what cannot be encoded, or has more than `maxBytes`.
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

/**
 * Puts the etag of a reply into the trailers, unless it is already there: a read mask may remove it from the
 * reply.
 */
export const announceEtag = ({ method, trailers }: Call, reply: SingleReply): void => {
  const current = reply instanceof EntityReply ? reply.etag : (method.responseEtag?.(reply) ?? '')
  if (current !== '' && trailers.get('etag') === undefined) trailers.set('etag', current)
}
