import type { Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import type { IfMatch } from '../../call.js'
import { parseIfMatch, sameIfMatch } from '../../if-match.js'
import type { Call } from '../chain/call.js'
import type { Interceptor, Passed, Reply } from '../chain/interceptor.js'
import type { Registered } from '../chain/registered.js'
import { withReply } from '../chain/reply.js'

/**
 * Collects the precondition of a call, which a handler that cannot compare it never gets, and sends the etag of the reply as
 * the trailer `etag`.
 */
export const etag = (): Interceptor<unknown, Passed<'validation'>> => (next, registered) => {
  const { responseEtag } = registered.method
  return (call) => {
    call.ifMatch = ifMatchOf(call, registered)
    const answer = next(call)
    if (responseEtag === undefined) return answer
    const announce = (reply: Reply): Reply => {
      if (!(Symbol.asyncIterator in reply)) announceEtag(call, reply)
      return reply
    }
    return withReply(answer, announce)
  }
}

/** Puts the etag of a reply into the trailers, unless it is there already: a read mask may cut it out of the reply. */
export const announceEtag = ({ method, trailers }: Call, message: Message): void => {
  const current = method.responseEtag?.(message) ?? ''
  if (current !== '' && trailers.get('etag') === undefined) trailers.set('etag', current)
}

/** From metadata, or from the request (its own `etag`, or that of the resource in an update); two that differ are refused. */
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
