import type { Interceptor, Passed } from '../interceptor.js'
import type { RequestId } from './request-id.js'

export interface TenantHint {
  readonly tenantHint: string
}

/** Reads the tenant from `account-id`: a hint for rate limiter and log only, never what a repository trusts. */
export const tenantId = (): Interceptor<TenantHint, RequestId & Passed<'errorMapper'>> => (call, next) =>
  next(call.with({ tenantHint: call.metadata.get('account-id') ?? '' }))
