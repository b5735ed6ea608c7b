import type { Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import type { IfMatch } from '../../call.js'
import { parseIfMatch, sameIfMatch } from '../methods/if-match.js'
import type { Handler } from '../chain/handler.js'
import type { Call, Interceptor, Passed } from '../chain/interceptor.js'
import type { Method } from '../chain/method.js'
import { isStream, whenAnswered } from '../chain/reply.js'

export interface Precondition {
  readonly ifMatch: IfMatch | undefined
}

/**
 * Collects the precondition of a call, which a handler that cannot compare it never gets, and sends the etag of what it answers
 * as the trailer `etag`.
 */
export const etag =
  (handlerOf: (method: Method) => Handler): Interceptor<Precondition, Passed<'fieldMask'>> =>
  (call, next) => {
    const reply = next(call.with({ ifMatch: ifMatchOf(call, handlerOf) }))
    if (call.method.responseEtag === undefined) return reply
    return whenAnswered(reply, (message) => {
      if (!isStream(message)) announceEtag(call, message)
      return message
    })
  }

/** Puts the etag of an answer into the trailers, unless it is there already: a read mask may cut it out of the answer. */
export const announceEtag = ({ method, trailers }: Call, message: Message): void => {
  const current = method.responseEtag?.(message) ?? ''
  if (current !== '' && trailers.get('etag') === undefined) trailers.set('etag', current)
}

/** From metadata, or from the request (its own `etag`, or that of the resource in an update); two that differ are refused. */
const ifMatchOf = (call: Call, handlerOf: (method: Method) => Handler): IfMatch | undefined => {
  const { method, metadata } = call
  const values = metadata.getAll('if-match')
  if (values.length > 0 && !handlerOf(method).supportsIfMatch)
    throw new InvalidArgument('if-match', `${method.desc.name} compares no etags: call it without If-Match`)
  const named = call.request === undefined ? '' : (call.method.requestEtag?.(call.request) ?? '')
  const fromHeader = values.length === 0 ? undefined : parseIfMatch(values.join(', '), 'if-match')
  const fromRequest = named === '' ? undefined : parseIfMatch(named, 'etag')
  if (fromHeader !== undefined && fromRequest !== undefined && !sameIfMatch(fromHeader, fromRequest)) {
    throw new InvalidArgument('etag', 'differs from If-Match: send one of them, or the same in both')
  }
  return fromHeader ?? fromRequest
}
