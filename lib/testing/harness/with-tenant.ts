import { RequestContext } from '../../context.js'

/** Runs `fn` as a caller of a tenant, which is all that a repository requires. */
export const withTenant = <T>(tenant: string, fn: () => T): T =>
  RequestContext.as({ tenant, subject: 'test' }, fn)
