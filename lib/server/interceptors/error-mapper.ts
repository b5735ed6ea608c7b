import type { Message } from '@bufbuild/protobuf'
import type { AshlarError } from '../../errors.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Logger } from '../observability/logger.js'
import { answered, isStream, mapStreamError } from '../chain/reply.js'
import { causeOf, toAshlarError } from '../observability/to-ashlar-error.js'
import type { RequestId } from './request-id.js'

/**
 * Lets nothing out but errors made for callers: all else is logged and becomes Internal with a generic text. So does an answer
 * that cannot be written.
 */
export const errorMapper =
  (logger: Logger): Interceptor<Passed<'errorMapper'>, RequestId> =>
  (call, next) => {
    const map = (error: unknown): AshlarError => {
      const known = toAshlarError(error, call.time)
      // What was told to stop says that it was cancelled, whatever it was told.
      const mapped = known.code === 'CANCELLED' ? (call.time.ended ?? known) : known
      if (mapped.code === 'INTERNAL') {
        logger.error({ requestId: call.requestId, method: call.path, err: causeOf(mapped) }, 'call failed')
      }
      return mapped
    }
    const written = (reply: Message): void => {
      try {
        call.incoming.write?.(reply)
      } catch (error) {
        throw map(error)
      }
    }
    return answered(
      () => next(call.passed('errorMapper')),
      (reply) => {
        if (isStream(reply)) return mapStreamError(reply, map)
        if (!call.method.isStreaming) written(reply)
        return reply
      },
      (error) => {
        throw map(error)
      },
    )
  }
