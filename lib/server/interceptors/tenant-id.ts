import { InvalidArgument, Unauthenticated } from '../../errors.js'
import { IDENTITY_HEADERS, SINGLE_HEADERS } from '../../gateway/http/metadata.js'
import type { Metadata } from '../../call.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { RequestId } from './request-id.js'

export interface TenantHint {
  readonly tenantHint: string
}

/**
 * Reads the tenant from `account-id`: a hint for rate limiter and log only, never what a repository trusts. Refuses a call
 * that says twice who makes it.
 * @param isVerified - whether tokens are verified: what the caller says of itself beside them is dropped for everybody.
 */
export const tenantId =
  (isVerified: boolean): Interceptor<TenantHint, RequestId & Passed<'errorMapper'>> =>
  (call, next) => {
    const { metadata } = call
    for (const name of SINGLE_HEADERS) checkOnce(metadata, name)
    if (isVerified) for (const name of IDENTITY_HEADERS) metadata.delete(name)
    return next(call.with({ tenantHint: metadata.get('account-id') ?? '' }))
  }

const checkOnce = (metadata: Metadata, name: string): void => {
  if (metadata.getAll(name).length < 2) return
  if (name === 'authorization') throw new Unauthenticated('the authorization header is there twice: send one')
  throw new InvalidArgument('', `the header ${name} is there twice: send one`)
}
