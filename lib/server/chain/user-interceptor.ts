import type { Message } from '@bufbuild/protobuf'
import type { ServerCall } from '../../call.js'

/** A unary call as an interceptor of `Config.interceptors` sees it. */
export interface InterceptedCall extends ServerCall {
  readonly request: Message
}

/**
 * Runs around the handler of every unary method, inside of the framework's chain: only the circuit breaker
 * and the timeout are closer to the handler.
 * @param next - runs the rest; with a request, on that request instead.
 */
export type UserInterceptor = (
  call: InterceptedCall,
  next: (request?: Message) => Promise<Message>,
) => Promise<Message>
