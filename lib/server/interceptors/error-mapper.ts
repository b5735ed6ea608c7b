import { detailsOf } from '../../error-details.js'
import type { AshlarError } from '../../errors.js'
import type { Call } from '../chain/call.js'
import type { Interceptor, Passed, Reply } from '../chain/interceptor.js'
import { encoded } from '../chain/response.js'
import type { Logger } from '../observability/logger.js'
import { ofRequestOrCode } from '../observability/mask-of-code.js'
import { Outages } from '../observability/outages.js'
import { mapStreamError } from '../chain/reply.js'
import { causeOf, toAshlarError } from '../observability/to-ashlar-error.js'
import type { RequestId } from './request-id.js'

/**
 * Encodes responses and maps errors. Only errors for callers pass unchanged. All others are logged and become
 * Internal with a generic message, including failures to write a reply. The reason of an unavailable
 * dependency is logged once per cause and minute.
 * @param maxResponseBytes - the limit of a single response.
 */
export const errorMapper = (
  logger: Logger,
  maxResponseBytes: number,
): Interceptor<unknown, RequestId & Passed<'deadline'>> => {
  const outages = new Outages()
  return (next, { method, handler }) => {
    const fail = (error: unknown, call: Call & RequestId): never => {
      const known = mapped(error, call, logger, outages)
      throw handler.named === undefined || call.request === undefined
        ? known
        : handler.named(known, call.request)
    }
    const finished = method.isStreaming
      ? (call: Call & RequestId, reply: Reply) => orFail(reply, (error) => fail(error, call))
      : encoded(maxResponseBytes)
    return (call) => {
      try {
        const reply = next(call)
        if (!(reply instanceof Promise)) return finished(call, reply)
        return reply.then(
          (reply) => {
            try {
              return finished(call, reply)
            } catch (error) {
              return fail(error, call)
            }
          },
          (error: unknown) => fail(error, call),
        )
      } catch (error) {
        return fail(error, call)
      }
    }
  }
}

/** Returns the reply; a stream's errors are mapped. */
const orFail = (reply: Reply, fail: (error: unknown) => never): Reply =>
  Symbol.asyncIterator in reply ? mapStreamError(reply, fail) : reply

const mapped = (error: unknown, call: Call & RequestId, logger: Logger, outages: Outages): AshlarError => {
  const { time, requestId, path } = call
  const known = toAshlarError(ofRequestOrCode(error, call), time)
  // A stopped call fails with CANCELLED, but the deadline knows the real reason.
  const result = known.code === 'CANCELLED' ? (time.ended ?? known) : known
  if (result.code === 'INTERNAL')
    logger.error({ requestId, method: path, err: causeOf(result) }, 'call failed')
  outages.tell(result, (err, message) => logger.error({ requestId, method: path, err }, message))
  if (result.details.some(({ kind }) => kind === undefined))
    for (const problem of detailsOf(result).problems)
      logger.error({ requestId, method: path, problem }, 'an error detail was left out')
  return result
}
