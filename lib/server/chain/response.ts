import type { Message } from '@bufbuild/protobuf'
import type { Call } from './call.js'
import { EntityReply, type SingleReply } from './entity-reply.js'
import type { Interceptor, Passed, Reply } from './interceptor.js'
import { onlyOne } from './reply.js'

/**
 * Has the response of a unary call encoded for its listener, with the etag of the reply as the trailer
 * `etag`. What cannot be encoded, or has more than `maxBytes`, fails the call. A stream is encoded and checked
 * message by message, by its listener.
 */
export const response =
  (maxBytes: number): Interceptor<unknown, Passed<'errorMapper'>> =>
  (next, { method }) => {
    if (method.isStreaming) return next
    return (call) => {
      const reply = next(call)
      return reply instanceof Promise
        ? reply.then((reply) => encoded(call, reply, maxBytes))
        : encoded(call, reply, maxBytes)
    }
  }

const encoded = (call: Call, reply: Reply, maxBytes: number): SingleReply | Promise<Message> => {
  if (Symbol.asyncIterator in reply)
    return onlyOne(reply).then((one) => encoded(call, one, maxBytes) as Message)
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
