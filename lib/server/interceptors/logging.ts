import type { DescMessage } from '@bufbuild/protobuf'
import { AshlarError } from '../../errors.js'
import { FAULTS } from '../observability/server-faults.js'
import type { Call } from '../chain/call.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Logger } from '../observability/logger.js'
import { refusalOf } from '../observability/refusal.js'
import { untilSettled } from '../chain/reply.js'
import type { Verified } from './authentication.js'
import { isAnonymous } from '../authz/is-anonymous.js'
import type { Denied, Derived } from './authorization.js'
import type { RequestId } from './request-id.js'
import type { TenantHint } from './tenant-id.js'
import type { Traced } from './tracing.js'

/**
 * Ends the time of each rpc when it has settled, and logs one record, with the code that the caller got: all
 * interceptors but tracing are inside of it.
 */
export const logging =
  (logger: Logger): Interceptor<unknown, Passed<'tracing'>> =>
  (next, { method }) =>
  (call) => {
    const startedAt = performance.now()
    return untilSettled(call, next, (error) => {
      call.time.clear()
      record(logger, call, startedAt, error, method.desc.input)
    })
  }

const record = (
  logger: Logger,
  call: Call & Partial<Traced & RequestId & TenantHint & Verified & Derived & Denied>,
  since: number,
  error: unknown,
  input: DescMessage,
): void => {
  const code = error === undefined ? 'OK' : error instanceof AshlarError ? error.code : 'INTERNAL'
  const isFault = FAULTS.has(code)
  if (!isFault && logger.isLevelEnabled?.('info') === false) return
  const { principal, verified } = call
  let who = verified !== undefined && !isAnonymous(verified) ? verified : undefined
  if (principal !== undefined && !isAnonymous(principal)) who = principal
  const fields = {
    method: call.path,
    code,
    ...(error !== undefined && refusalOf(error, input)),
    ...(call.denial !== undefined && { denial: call.denial }),
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
