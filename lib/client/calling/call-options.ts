import type { Metadata } from '../../call.js'
import type { RetryOptions } from '../retries/retry-policy.js'
import type { ClientMetadata } from '../transports/sent-metadata.js'
import type { ClientTransport } from '../transports/transport.js'

/** The options for all calls of a client. */
export interface ClientOptions {
  readonly transport: ClientTransport
  /**
   * Timeout in milliseconds of a call with all of its attempts, or of one page of a list. Default: 15,000.
   * Streams have no default timeout.
   */
  readonly timeoutMs?: number
  /**
   * Metadata to send with each attempt: an object, or a function that is called for each attempt.
   * @example
   * ```ts
   * import { createClient, grpcTransport } from 'ashlar/client'
   * import { WidgetService } from './gen/widgets_pb.js'
   *
   * export const widgetsFor = (token: () => Promise<string>) =>
   *   createClient(WidgetService, {
   *     transport: grpcTransport('api.example.com:443', { tls: true }),
   *     metadata: async () => ({ authorization: `Bearer ${await token()}` }),
   *   })
   * ```
   */
  readonly metadata?: ClientMetadata
  /** The conditions for repeating a call; false to never repeat calls. */
  readonly retry?: RetryOptions | false
}

/** The options of one call. */
export interface CallOptions {
  /** Replaces the client's timeout, in milliseconds. A stream has a timeout only if this is set. */
  readonly timeoutMs?: number
  /** Cancels the call. */
  readonly signal?: AbortSignal
  /** Metadata to add to the client's. Equal names are replaced. */
  readonly metadata?: ClientMetadata
  /** Called with the response headers, once for each attempt. */
  readonly onHeaders?: (headers: Metadata) => void
  /** Called with the trailers, such as `etag`, once for each attempt. */
  readonly onTrailers?: (trailers: Metadata) => void
}
