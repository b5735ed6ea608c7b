import { detailsOf } from '../../error-details.js'
import type { AshlarError } from '../../errors.js'
import type { Call } from '../chain/call.js'
import { EntityReply } from '../chain/entity-reply.js'
import type { Interceptor, Reply } from '../chain/interceptor.js'
import type { Logger } from '../observability/logger.js'
import { ReportLimit } from '../../faults/report-limit.js'
import { mapStreamError, proceed } from '../chain/reply.js'
import { causeOf, toAshlarError } from '../observability/to-ashlar-error.js'
import type { RequestId } from './request-id.js'

/**
 * Only errors for callers pass. All others are logged and become Internal with a generic text, also when a reply cannot
 * be written. Why something that the server depends on is unavailable is logged once per cause and minute.
 */
export const errorMapper = (logger: Logger): Interceptor<unknown, RequestId> => {
  const outages = new ReportLimit()
  return (next, { method }) =>
    (call) => {
      const map = (error: unknown): AshlarError => mapped(error, call, logger, outages)
      const fail = (error: unknown): never => {
        throw map(error)
      }
      const write = (reply: Reply): Reply => {
        if (Symbol.asyncIterator in reply) return mapStreamError(reply, map)
        if (method.isStreaming) return reply
        try {
          const { incoming } = call
          if (!(reply instanceof EntityReply)) incoming.write?.(reply)
          else if (incoming.writeBytes !== undefined) incoming.writeBytes(reply.bytes())
          else if (incoming.writeEntity !== undefined) incoming.writeEntity(reply)
          else incoming.write?.(reply.message)
        } catch (error) {
          fail(error)
        }
        return reply
      }
      return proceed(call, next, write, fail)
    }
}

const mapped = (
  error: unknown,
  { time, requestId, path }: Call & RequestId,
  logger: Logger,
  outages: ReportLimit,
): AshlarError => {
  const known = toAshlarError(error, time)
  // A stopped call says that it was cancelled; the time of the call knows the real reason.
  const result = known.code === 'CANCELLED' ? (time.ended ?? known) : known
  if (result.code === 'INTERNAL')
    logger.error({ requestId, method: path, err: causeOf(result) }, 'call failed')
  if (result.code === 'UNAVAILABLE' && result.cause !== undefined)
    outages.tell('', result, (more) =>
      logger.error(
        { requestId, method: path, err: causeOf(result) },
        `unavailable: ${result.message}${more}`,
      ),
    )
  if (result.details.some(({ kind }) => kind === undefined))
    for (const problem of detailsOf(result).problems)
      logger.error({ requestId, method: path, problem }, 'a detail of an error was left out')
  return result
}
