import { type DescMessage, type Message, toJson } from '@bufbuild/protobuf'
import { AshlarError } from '../../errors.js'
import { FAULTS } from '../faults.js'
import type { Call, Interceptor, Passed } from '../interceptor.js'
import type { Logger } from '../logger.js'
import { type IsSecret, redacted } from '../redaction.js'
import { answered, isStream, whenSettled } from '../reply.js'
import type { Authorized } from './authorization.js'
import type { RequestId } from './request-id.js'
import type { TenantHint } from './tenant-id.js'
import type { Traced } from './tracing.js'

/** Writes one record per rpc, from outside of the chain, with the code the caller got; at debug also what went in and out. */
export const logging =
  (logger: Logger, isSecret: IsSecret): Interceptor<Passed<'logging'>, Traced> =>
  (call, next) => {
    const startedAt = performance.now()
    const settled = (error?: unknown) => record(logger, call, startedAt, error)
    const { input, output } = call.method.desc
    const hasDebug = logger.isLevelEnabled?.('debug') ?? true
    if (hasDebug && call.request !== undefined)
      payload(logger, call, 'request', call.request, input, isSecret)
    return answered(
      () => next(call.passed('logging')),
      (reply) => {
        if (hasDebug && !isStream(reply)) payload(logger, call, 'response', reply, output, isSecret)
        return whenSettled(reply, settled)
      },
      (error) => {
        settled(error)
        throw error
      },
    )
  }

const record = (
  logger: Logger,
  call: Call & Traced & Partial<RequestId & TenantHint & Authorized>,
  since: number,
  error: unknown,
): void => {
  const code = error === undefined ? 'OK' : error instanceof AshlarError ? error.code : 'INTERNAL'
  const isFault = FAULTS.has(code)
  if (!isFault && logger.isLevelEnabled?.('info') === false) return
  const fields = {
    method: call.path,
    code,
    durationMs: Math.round((performance.now() - since) * 1000) / 1000,
    requestId: call.requestId,
    tenant: call.principal?.tenant ?? call.tenantHint,
    subject: call.principal?.subject,
    door: call.incoming.door,
    peer: call.peer,
    ...call.trace,
  }
  if (isFault) logger.error(fields, 'rpc')
  else logger.info(fields, 'rpc')
}

/** Secrets and credentials are gone from it before it becomes text. */
const payload = (
  logger: Logger,
  call: Call & Traced & Partial<RequestId>,
  side: 'request' | 'response',
  message: Message,
  desc: DescMessage,
  isSecret: IsSecret,
): void => {
  const fields = { method: call.path, requestId: call.requestId, ...call.trace }
  logger.debug({ ...fields, [side]: jsonOf(redacted(message, desc, isSecret), desc) }, side)
}

const jsonOf = (message: Message, desc: DescMessage): unknown => {
  try {
    return toJson(desc, message)
  } catch {
    return `[${desc.typeName} without JSON]` // an Any of a type that is not known here
  }
}
