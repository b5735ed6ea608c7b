import type { IfMatch } from '../../call.js'
import { InvalidArgument } from '../../errors.js'
import { parseIfMatch, sameIfMatch } from '../../if-match.js'
import type { Call } from '../chain/call.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'

/** Reads a call's precondition. A handler that cannot compare etags never receives one. */
export const etag =
  (): Interceptor<unknown, Passed<'validation'>> =>
  (next, { method, handler: { supportsIfMatch } }) =>
  (call) => {
    const isSent = call.metadata.get('if-match') !== undefined
    if (isSent && !supportsIfMatch)
      throw new InvalidArgument(
        'if-match',
        `${method.desc.name} does not compare etags: call it without If-Match`,
      )
    if (isSent || method.requestEtag !== undefined) call.ifMatch = ifMatchOf(call)
    return next(call)
  }

/**
 * Returns the precondition of a request, from metadata or from the request (its `etag`, or the resource's
 * etag in an update).
 * @throws InvalidArgument if both are set and differ.
 */
const ifMatchOf = ({ metadata, method, request }: Call): IfMatch | undefined => {
  const values = metadata.getAll('if-match')
  const named = request === undefined ? '' : (method.requestEtag?.(request) ?? '')
  const fromHeader = values.length === 0 ? undefined : parseIfMatch(values.join(', '), 'if-match')
  const fromRequest = named === '' ? undefined : parseIfMatch(named, 'etag')
  if (fromHeader !== undefined && fromRequest !== undefined && !sameIfMatch(fromHeader, fromRequest))
    throw new InvalidArgument('etag', 'differs from If-Match: send one of them, or the same in both')
  return fromHeader ?? fromRequest
}
