import { AshlarError } from '../../errors.js'
import type { Redaction } from '../../resource/redaction.js'
import { isAnonymous } from '../authz/is-anonymous.js'
import type { Call } from '../chain/call.js'
import type { Interceptor } from '../chain/interceptor.js'
import { untilSettled } from '../chain/reply.js'
import type { Logger } from '../observability/logger.js'
import { withPayloads } from '../observability/payloads.js'
import { refusalOf } from '../observability/refusal.js'
import { FAULTS } from '../observability/server-faults.js'
import type { RequestId } from './request-id.js'

/**
 * Logs one record when a call has settled, with the code that the caller received. At level debug, also logs
 * its request and response.
 */
export const logging =
  (logger: Logger, redaction: Redaction): Interceptor<unknown, RequestId> =>
  (next) => {
    const shown: typeof next = (call) => withPayloads(call, next, logger, redaction)
    return (call) => {
      const startedAt = performance.now()
      const inner = logger.isLevelEnabled?.('debug') === false ? next : shown
      return untilSettled(call, inner, (error) => record(logger, call, startedAt, error))
    }
  }

const record = (logger: Logger, call: Call, since: number, error: unknown): void => {
  const code = error === undefined ? 'OK' : error instanceof AshlarError ? error.code : 'INTERNAL'
  const isFault = FAULTS.has(code)
  if (!isFault && logger.isLevelEnabled?.('info') === false) return
  const { principal, verified, method } = call
  let who = verified !== undefined && !isAnonymous(verified) ? verified : undefined
  if (principal !== undefined && !isAnonymous(principal)) who = principal
  const denial = call.denial ?? (code === 'UNAUTHENTICATED' ? tokenProblem(error) : undefined)
  const fields = {
    method: call.path,
    code,
    ...(error !== undefined && refusalOf(error, method.desc.input)),
    ...(denial !== undefined && { denial }),
    durationMs: Math.round((performance.now() - since) * 1000) / 1000,
    requestId: call.requestId,
    tenant: who?.tenant ?? call.tenantHint,
    subject: (who ?? principal)?.subject,
    transport: call.incoming.transport,
    peer: call.peer,
    ...call.trace,
  }
  if (isFault) logger.error(fields, 'rpc')
  else logger.info(fields, 'rpc')
}

/**
 * Returns why a bearer token was rejected, such as `unexpected "aud" claim value`. It contains no value of
 * the token.
 */
const tokenProblem = (error: unknown): string | undefined => {
  const { cause } = error as AshlarError
  const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string }
  return typeof code === 'string' && code.startsWith('ERR_J') ? message : undefined
}
