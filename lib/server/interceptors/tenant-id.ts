import { InvalidArgument, Unauthenticated } from '../../errors.js'
import { IDENTITY_HEADERS, SINGLE_HEADERS } from '../../gateway/http/metadata-of.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { RequestId } from './request-id.js'

export interface TenantHint {
  readonly tenantHint: string
}

/**
 * Handles the headers that identify a caller:
 * - rejects a call that sends one of them twice,
 * - deletes the headers that any client could send, if tokens are verified,
 * - puts `account-id` on the call as a hint for the log and the rate limiter. Repositories never trust it.
 * @param isVerified - true if tokens are verified.
 */
export const tenantId =
  (isVerified: boolean): Interceptor<TenantHint, RequestId & Passed<'errorMapper'>> =>
  (next) =>
  (call) => {
    const { metadata } = call
    const repeated = metadata.repeatedOf(SINGLE_HEADERS)
    if (repeated !== undefined) throw sentTwice(repeated)
    if (isVerified) for (const name of IDENTITY_HEADERS) metadata.delete(name)
    call.tenantHint = metadata.get('account-id') ?? ''
    return next(call as typeof call & TenantHint)
  }

/** Returns the error for an identifying header that was sent twice. */
export const sentTwice = (name: string): Error =>
  name === 'authorization'
    ? new Unauthenticated('the authorization header is given twice: send one')
    : new InvalidArgument('', `the header ${name} is given twice: send one`)
