import { AshlarError, type Code, Unavailable } from '../../errors.js'
import { messageOfReply, type SingleReply } from '../chain/entity-reply.js'
import type { Interceptor, Passed, Reply, ReplyOrPromise } from '../chain/interceptor.js'

/** Stops calls to a failing handler. cockatiel policies implement this interface. */
export interface CircuitBreaker {
  /** Runs `fn`, or rejects without running it while the circuit is open. */
  execute<T>(fn: () => Promise<T>): Promise<T>
}

/** Error codes that indicate a failure of the service rather than of its caller. */
const COUNTED: ReadonlySet<Code> = new Set([
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
])

/**
 * Wraps the handlers of unary methods in the breaker. Errors of callers (NotFound, InvalidArgument and so on)
 * do not open it.
 */
export const circuitBreaker =
  (breaker: CircuitBreaker): Interceptor<unknown, Passed<'userInterceptors'>> =>
  (next, { method }) =>
    method.isStreaming ? next : (call) => broken(breaker, () => next(call))

const broken = async (breaker: CircuitBreaker, work: () => ReplyOrPromise): Promise<Reply> => {
  let ran = false
  const outcome = await breaker
    .execute(() => {
      ran = true
      return settle(work)
    })
    .catch((error: unknown) => {
      throw ran ? error : new Unavailable('the service is recovering: retry later', error)
    })
  if ('error' in outcome) throw outcome.error
  return outcome.reply
}

type Outcome = { readonly reply: Reply } | { readonly error: unknown }

const settle = async (work: () => ReplyOrPromise): Promise<Outcome> => {
  try {
    return { reply: messageOfReply((await work()) as SingleReply) }
  } catch (error) {
    if (error instanceof AshlarError && !COUNTED.has(error.code)) return { error }
    throw error
  }
}
