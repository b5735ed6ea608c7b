import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../call.js'
import type { KnownHeaders } from './http/cors.js'

/** A path at which another protocol is served. */
export interface ExactPath {
  /** The HTTP methods that it supports. */
  readonly methods: readonly string[]
  /**
   * Responds to a request, also for unsupported methods. Throws an error that the caller has not received
   * yet.
   */
  serve(request: IncomingMessage, response: ServerResponse, query: string, caller: Caller): Promise<void>
}

/** Paths that take precedence over mounted handlers and HTTP rules. */
export interface ExactPaths {
  /** The paths exactly as received. A path with different escapes is a different path. */
  readonly byPath: ReadonlyMap<string, ExactPath>
  /** Additional headers that pages of other origins may send and read. */
  readonly headers: KnownHeaders
  /**
   * Responds to a request for an unknown path if the protocol has its own response for it. Returns true if it
   * has responded.
   */
  respondsUnserved?(request: IncomingMessage, response: ServerResponse): boolean
}
