import { AshlarError, type Code } from '../../errors.js'
import type { Call, Interceptor, Passed } from '../interceptor.js'
import type { Logger } from '../logger.js'
import { whenSettled } from '../reply.js'
import type { Authorized } from './authorization.js'
import type { RequestId } from './request-id.js'
import type { TenantHint } from './tenant-id.js'

/** Codes that are our fault. */
const FAULTS: ReadonlySet<Code> = new Set(['UNKNOWN', 'INTERNAL', 'DATA_LOSS'])

/** Writes one record per rpc, from outside of the chain, with the code the caller got. */
export const logging =
  (logger: Logger): Interceptor<Passed<'logging'>> =>
  async (call, next) => {
    const startedAt = performance.now()
    const settled = (error?: unknown) => record(logger, call, startedAt, error)
    try {
      return whenSettled(await next(call.passed('logging')), settled)
    } catch (error) {
      settled(error)
      throw error
    }
  }

const record = (
  logger: Logger,
  call: Call & Partial<RequestId & TenantHint & Authorized>,
  since: number,
  error: unknown,
) => {
  const code = error === undefined ? 'OK' : error instanceof AshlarError ? error.code : 'INTERNAL'
  const fields = {
    method: call.path,
    code,
    durationMs: Math.round((performance.now() - since) * 1000) / 1000,
    requestId: call.requestId,
    tenant: call.principal?.tenant ?? call.tenantHint,
    subject: call.principal?.subject,
    door: call.incoming.door,
    peer: call.peer,
  }
  if (FAULTS.has(code)) logger.error(fields, 'rpc')
  else logger.info(fields, 'rpc')
}
