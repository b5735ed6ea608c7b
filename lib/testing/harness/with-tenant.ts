import { RequestContext } from '../../context.js'

/** Runs `fn` as somebody of a tenant, which is all that a repository asks of its caller. */
export const withTenant = <T>(tenant: string, fn: () => T): T =>
  RequestContext.as({ tenant, subject: 'test' }, fn)
