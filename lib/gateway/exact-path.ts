import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../call.js'
import type { KnownHeaders } from './http/cors.js'

/** A path that a protocol of its own is spoken at. */
export interface ExactPath {
  /** The HTTP methods that it supports. */
  readonly methods: readonly string[]
  /** Responds to any other method, too. Throws what the caller still has to be told. */
  serve(request: IncomingMessage, response: ServerResponse, query: string, caller: Caller): Promise<void>
}

/** Paths that come before mounted handlers and HTTP rules. */
export interface ExactPaths {
  /** By path, as it is received: another spelling of it is another path. */
  readonly byPath: ReadonlyMap<string, ExactPath>
  /** What pages of other origins may send to them and read of them, beside what the gateway has. */
  readonly headers: KnownHeaders
  /**
   * Responds to a request for a path that is not served, if its protocol has a response of its own for it.
   * Returns whether it has responded.
   */
  respondsUnserved?(request: IncomingMessage, response: ServerResponse): boolean
}
