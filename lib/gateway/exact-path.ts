import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../call.js'
import type { KnownHeaders } from './http/cors.js'

/** A path that a protocol of its own is spoken at. */
export interface ExactPath {
  /** The HTTP methods that it supports. */
  readonly methods: readonly string[]
  /** Responds to any other method, too. Throws the error that the caller has not received yet. */
  serve(request: IncomingMessage, response: ServerResponse, query: string, caller: Caller): Promise<void>
}

/** Paths that come before mounted handlers and HTTP rules. */
export interface ExactPaths {
  /** By path, exactly as received: a differently encoded path is another path. */
  readonly byPath: ReadonlyMap<string, ExactPath>
  /** The headers that pages of other origins may send and read, besides the gateway's. */
  readonly headers: KnownHeaders
  /**
   * Responds to a request for a path that is not served, if its protocol has a response of its own for it.
   * Returns whether it has responded.
   */
  respondsUnserved?(request: IncomingMessage, response: ServerResponse): boolean
}
