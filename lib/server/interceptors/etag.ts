import { InvalidArgument } from '../../errors.js'
import type { IfMatch } from '../../call.js'
import { parseIfMatch, sameIfMatch } from '../../if-match.js'
import type { Call } from '../chain/call.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Registered } from '../chain/registered.js'

/** The precondition of a call; undefined without one. */
export interface Conditional {
  readonly ifMatch: IfMatch | undefined
}

/** Reads the precondition of a call. A handler that cannot compare etags never gets one. */
export const etag = (): Interceptor<Conditional, Passed<'validation'>> => (next, registered) => (call) =>
  next(Object.assign(call, { ifMatch: ifMatchOf(call, registered) }))

/**
 * From metadata, or from the request (its own `etag`, or the etag of the resource in an update). If both are
 * set and differ, the call is rejected.
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
