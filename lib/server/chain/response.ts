import type { Message } from '@bufbuild/protobuf'
import type { Call } from './call.js'
import { EntityReply, type SingleReply } from './entity-reply.js'
import type { Interceptor, Passed, Reply } from './interceptor.js'
import { onlyOne } from './reply.js'

/**
 * Has the listener of a unary call write its response, with the etag of the reply as the trailer `etag`. What
 * cannot be written fails the call. A stream is written message by message, by its listener.
 */
export const response =
  (): Interceptor<unknown, Passed<'errorMapper'>> =>
  (next, { method }) => {
    if (method.isStreaming) return next
    return (call) => {
      const reply = next(call)
      return reply instanceof Promise ? reply.then((reply) => respond(call, reply)) : respond(call, reply)
    }
  }

const respond = (call: Call, reply: Reply): SingleReply | Promise<Message> => {
  if (Symbol.asyncIterator in reply) return onlyOne(reply).then((one) => respond(call, one) as Message)
  announceEtag(call, reply)
  call.incoming.respond(reply)
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
