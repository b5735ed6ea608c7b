import type { Message } from '@bufbuild/protobuf'
import type { Call } from './call.js'
import type { SingleReply } from './entity-reply.js'
import type { Registered } from './registered.js'

/** One response, or a stream of messages if the server streams. */
export type Reply = SingleReply | AsyncIterable<Message>

/** A reply or a promise. An interceptor that does not wait creates no promise. */
export type ReplyOrPromise = Reply | Promise<Reply>

/** Calls the next interceptor or the handler. */
export type Next<C> = (call: C) => ReplyOrPromise

/**
 * Wraps the inner part of the chain, once for each method. It returns `next` itself if it has nothing to do
 * for the method. `Adds` is what it adds to the call for inner interceptors. `Needs` is what outer
 * interceptors must have added, so a wrong order does not compile.
 */
export type Interceptor<Adds = unknown, Needs = unknown> = <C extends Call & Needs>(
  next: Next<C & Adds>,
  registered: Registered,
) => Next<C>

declare const passed: unique symbol

/** A type-level mark: the call has passed the interceptor of this name. */
export interface Passed<Name extends string> {
  readonly [passed]: { readonly [N in Name]: true }
}
