import type { Call } from './call.js'
import type { Interceptor, Next, Passed } from './interceptor.js'
import type { Registered } from './registered.js'

type AnyInterceptor = (next: Next<Call>, registered: Registered) => Next<Call>

/**
 * The interceptors in the order in which a call passes them. `Has` is the type of what they have added to the
 * call so far.
 */
export class Chain<Has = unknown> {
  readonly #interceptors: readonly AnyInterceptor[]

  constructor(interceptors: readonly AnyInterceptor[] = []) {
    this.#interceptors = interceptors
  }

  /**
   * Returns the chain with one more inner interceptor. It does not compile if no outer interceptor adds what
   * this one requires.
   * @param _name - the name that inner interceptors require with `Passed`.
   * @param interceptor - undefined if it is not configured. That compiles only if no other interceptor
   *   requires what it adds.
   */
  add<Name extends string, Adds, Needs>(
    _name: Name,
    interceptor:
      | (Interceptor<Adds, Needs> & (Call & Has extends Needs ? unknown : never))
      | (object extends Adds ? undefined : never),
  ): Chain<Has & Adds & Passed<Name>> {
    // The signature has checked that the call has what the interceptor requires.
    return new Chain(
      interceptor === undefined
        ? this.#interceptors
        : [...this.#interceptors, interceptor as unknown as AnyInterceptor],
    )
  }

  /** Wraps a handler with the interceptors. The result is one function for each method. */
  around(handlerOf: (registered: Registered) => Next<Call & Has>): (registered: Registered) => Next<Call> {
    return (registered) =>
      this.#interceptors.reduceRight(
        (next, interceptor) => interceptor(next, registered),
        handlerOf(registered) as Next<Call>,
      )
  }
}
