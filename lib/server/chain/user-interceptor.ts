import type { Message } from '@bufbuild/protobuf'
import type { ServerCall } from '../../call.js'

/** A unary call as interceptors in `Config.interceptors` receive it. */
export interface InterceptedCall extends ServerCall {
  readonly request: Message
}

/**
 * Runs around the handler of every unary method, inside the framework's chain. Only the circuit breaker and
 * the timeout are closer to the handler.
 * @param next - runs the rest of the chain, with another request if one is passed.
 */
export type UserInterceptor = (
  call: InterceptedCall,
  next: (request?: Message) => Promise<Message>,
) => Promise<Message>
