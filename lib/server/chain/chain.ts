import type { Call } from './call.js'
import type { Interceptor, Next, Passed } from './interceptor.js'
import type { Registered } from './registered.js'

type AnyInterceptor = (next: Next<Call>, registered: Registered) => Next<Call>

/**
 * Interceptors in the order in which a call meets them. `Has` is what the interceptors so far have put on the
 * call.
 */
export class Chain<Has = unknown> {
  readonly #interceptors: readonly AnyInterceptor[]

  constructor(interceptors: readonly AnyInterceptor[] = []) {
    this.#interceptors = interceptors
  }

  /**
   * The chain with one more interceptor inside. Does not compile when the interceptor needs what none before
   * it adds.
   * @param _name - the name that inner interceptors require with `Passed`.
   * @param interceptor - undefined when it is not configured: its place is kept in the types, and no call
   * meets it. That compiles only when no other interceptor needs what it adds.
   */
  add<Name extends string, Adds, Needs>(
    _name: Name,
    interceptor:
      | (Interceptor<Adds, Needs> & (Call & Has extends Needs ? unknown : never))
      | (object extends Adds ? undefined : never),
  ): Chain<Has & Adds & Passed<Name>> {
    // Its type says what it needs on the call; the signature has checked that it is there.
    return new Chain(
      interceptor === undefined
        ? this.#interceptors
        : [...this.#interceptors, interceptor as unknown as AnyInterceptor],
    )
  }

  /** The interceptors around a handler, as one function per method. */
  around(handlerOf: (registered: Registered) => Next<Call & Has>): (registered: Registered) => Next<Call> {
    return (registered) =>
      this.#interceptors.reduceRight(
        (next, interceptor) => interceptor(next, registered),
        handlerOf(registered) as Next<Call>,
      )
  }
}
