import type { Handler } from './handler.js'
import type { Method } from './method.js'

/** A method and its handler. */
export interface Registered {
  readonly method: Method
  readonly handler: Handler
}
