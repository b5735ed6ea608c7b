import type { Message } from '@bufbuild/protobuf'
import type { Call } from './call.js'
import type { SingleReply } from './entity-reply.js'
import type { Registered } from './registered.js'

/** One response, or a stream of messages for methods that reply with a stream. */
export type Reply = SingleReply | AsyncIterable<Message>

/** A reply, or a promise of one. An interceptor that does not wait creates no promise. */
export type ReplyOrPromise = Reply | Promise<Reply>

/** Returns the reply, rejects or throws. */
export type Next<C> = (call: C) => ReplyOrPromise

/**
 * One interceptor of the chain. It wraps the inner part once per method, and returns `next` itself when it
 * has nothing to do for the method. `Adds` is what it puts on the call for inner interceptors. `Needs` is
 * what an outer one must have put there, so that a wrong order does not compile.
 */
export type Interceptor<Adds = unknown, Needs = unknown> = <C extends Call & Needs>(
  next: Next<C & Adds>,
  registered: Registered,
) => Next<C>

declare const passed: unique symbol

/** A mark that exists only in types: the call has passed the interceptor of this name. */
export interface Passed<Name extends string> {
  readonly [passed]: { readonly [N in Name]: true }
}
