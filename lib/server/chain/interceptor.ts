import type { Message } from '@bufbuild/protobuf'
import type { Call } from './call.js'
import type { Registered } from './registered.js'

/** One message, or a stream of them for methods that reply with a stream. */
export type Reply = Message | AsyncIterable<Message>

/** A reply that is there, or one that somebody waits for. An interceptor that waits for nothing makes no promise. */
export type Answer = Reply | Promise<Reply>

/** Returns the reply, rejects or throws. */
export type Next<C> = (call: C) => Answer

/**
 * One interceptor of the chain: wraps what is inside of it, once per method, and returns `next` itself where it has nothing
 * to do for the method. `Adds` is what it puts on the call for those inside, `Needs` what one outside must have put there,
 * so that a wrong order does not compile.
 */
export type Interceptor<Adds = unknown, Needs = unknown> = <C extends Call & Needs>(
  next: Next<C & Adds>,
  registered: Registered,
) => Next<C>

declare const passed: unique symbol

/** A mark in types alone: the call has been through the place of this name in the chain. */
export interface Passed<Name extends string> {
  readonly [passed]: { readonly [N in Name]: true }
}
