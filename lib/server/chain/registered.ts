import type { Handler } from './handler.js'
import type { Method } from './method.js'

/** A method with what implements it. */
export interface Registered {
  readonly method: Method
  readonly handler: Handler
}
