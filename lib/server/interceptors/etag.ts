import { InvalidArgument } from '../../errors.js'
import type { IfMatch } from '../../call.js'
import { parseIfMatch, sameIfMatch } from '../../if-match.js'
import type { Call } from '../chain/call.js'
import { EntityReply } from '../chain/entity-reply.js'
import type { Interceptor, Passed, Reply } from '../chain/interceptor.js'
import type { Registered } from '../chain/registered.js'

/**
 * Reads the precondition of a call, and sends the etag of the reply as the trailer `etag`. A handler that cannot
 * compare etags never gets a precondition.
 */
export const etag = (): Interceptor<unknown, Passed<'validation'>> => (next, registered) => {
  const { responseEtag } = registered.method
  return (call) => {
    call.ifMatch = ifMatchOf(call, registered)
    const reply = next(call)
    if (responseEtag === undefined) return reply
    return reply instanceof Promise
      ? reply.then((reply) => announceEtag(call, reply))
      : announceEtag(call, reply)
  }
}

/** Puts the etag of a reply into the trailers, unless it is already there: a read mask may remove it from the reply. */
export const announceEtag = ({ method, trailers }: Call, reply: Reply): Reply => {
  if (Symbol.asyncIterator in reply) return reply
  const current = reply instanceof EntityReply ? reply.etag : (method.responseEtag?.(reply) ?? '')
  if (current !== '' && trailers.get('etag') === undefined) trailers.set('etag', current)
  return reply
}

/**
 * From metadata, or from the request (its own `etag`, or that of the resource in an update). Two different ones are
 * refused.
 */
const ifMatchOf = (call: Call, { method, handler }: Registered): IfMatch | undefined => {
  const values = call.metadata.getAll('if-match')
  if (values.length > 0 && !handler.supportsIfMatch)
    throw new InvalidArgument('if-match', `${method.desc.name} compares no etags: call it without If-Match`)
  const named = call.request === undefined ? '' : (method.requestEtag?.(call.request) ?? '')
  const fromHeader = values.length === 0 ? undefined : parseIfMatch(values.join(', '), 'if-match')
  const fromRequest = named === '' ? undefined : parseIfMatch(named, 'etag')
  if (fromHeader !== undefined && fromRequest !== undefined && !sameIfMatch(fromHeader, fromRequest)) {
    throw new InvalidArgument('etag', 'differs from If-Match: send one of them, or the same in both')
  }
  return fromHeader ?? fromRequest
}
