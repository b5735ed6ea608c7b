import type { Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import type { IfMatch } from '../call.js'
import { parseIfMatch, sameIfMatch } from '../if-match.js'
import type { Call, Interceptor, Passed } from '../interceptor.js'
import { isStream, whenAnswered } from '../reply.js'

export interface Precondition {
  readonly ifMatch: IfMatch | undefined
}

/** Collects the precondition of a call, and sends the etag of what it answers as the trailer `etag`. */
export const etag = (): Interceptor<Precondition, Passed<'fieldMask'>> => (call, next) => {
  const reply = next(call.with({ ifMatch: ifMatchOf(call) }))
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
const ifMatchOf = (call: Call): IfMatch | undefined => {
  const header = call.metadata.getAll('if-match').join(', ')
  const named = call.request === undefined ? '' : (call.method.requestEtag?.(call.request) ?? '')
  const fromHeader = header === '' ? undefined : parseIfMatch(header, 'if-match')
  const fromRequest = named === '' ? undefined : parseIfMatch(named, 'etag')
  if (fromHeader !== undefined && fromRequest !== undefined && !sameIfMatch(fromHeader, fromRequest)) {
    throw new InvalidArgument('etag', 'differs from If-Match: send one of them, or the same in both')
  }
  return fromHeader ?? fromRequest
}
