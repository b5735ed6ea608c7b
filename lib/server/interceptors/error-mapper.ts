import { ServerError } from 'nice-grpc-common'
import { AshlarError, Cancelled, CODES, type Code, DeadlineExceeded, Internal } from '../../errors.js'
import { constraintError } from '../../persistence/constraint-error.js'
import { withoutValues } from '../../resource/driver-fault.js'
import type { Deadline } from '../deadline.js'
import type { Interceptor, Passed } from '../interceptor.js'
import type { Logger } from '../logger.js'
import { isStream, mapStreamError } from '../reply.js'
import type { RequestId } from './request-id.js'

/** Lets nothing out but errors made for callers: all else is logged and becomes Internal with a generic text. */
export const errorMapper =
  (logger: Logger): Interceptor<Passed<'errorMapper'>, RequestId> =>
  async (call, next) => {
    const map = (error: unknown): AshlarError => {
      const mapped = toAshlarError(error, call.time)
      if (mapped.code === 'INTERNAL') {
        logger.error({ requestId: call.requestId, method: call.path, err: causeOf(mapped) }, 'call failed')
      }
      return mapped
    }
    try {
      const reply = await next(call.passed('errorMapper'))
      return isStream(reply) ? mapStreamError(reply, map) : reply
    } catch (error) {
      throw map(error)
    }
  }

const toAshlarError = (error: unknown, time: Deadline): AshlarError => {
  if (error instanceof AshlarError) return error
  if (error instanceof ServerError) return fromNiceGrpc(error)
  if (isAbort(error)) {
    if (time.expired) return new DeadlineExceeded(undefined, error)
    if (time.cancelled) return new Cancelled(error)
  }
  return constraintError(error) ?? new Internal(withoutValues(error))
}

/** nice-grpc's error is its user's explicit word to the caller. */
const fromNiceGrpc = (error: ServerError): AshlarError => {
  const code = (Object.keys(CODES) as Code[]).find((name) => CODES[name] === Number(error.code))
  if (code === undefined || code === 'OK' || code === 'INTERNAL' || code === 'UNKNOWN')
    return new Internal(error)
  return new AshlarError(code, error.details, { cause: error })
}

const isAbort = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')

/** What there is to know about an internal error: its cause, never the row or statement a driver attached. */
const causeOf = (error: AshlarError): object => {
  const { name, message, stack } = withoutValues(error.cause instanceof Error ? error.cause : error) as Error
  return { name, message, stack }
}
