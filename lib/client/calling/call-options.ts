import type { Metadata } from '../../call.js'
import type { RetryOptions } from '../retries/retry-policy.js'
import type { ClientMetadata } from '../transports/sent-metadata.js'
import type { ClientTransport } from '../transports/transport.js'

/** The options that all calls of a client share. */
export interface ClientOptions {
  readonly transport: ClientTransport
  /**
   * Milliseconds for a call with all of its attempts, or for one page of a list. Default 15000. Streams have
   * no limit of their own.
   */
  readonly timeoutMs?: number
  /**
   * Sent with each attempt: an object, or a function that is called for each attempt.
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
  /** When a call is repeated; false for never. */
  readonly retry?: RetryOptions | false
}

/** The options of one call. */
export interface CallOptions {
  /** Replaces the client's timeout. A stream has a limit only if this is set. */
  readonly timeoutMs?: number
  /** Cancels the call. */
  readonly signal?: AbortSignal
  /** Added to the client's metadata; the same name is replaced. */
  readonly metadata?: ClientMetadata
  /** Called with what the server sends before its first message, once for each attempt. */
  readonly onHeaders?: (headers: Metadata) => void
  /** Called with what it sends at the end, such as `etag`, once for each attempt. */
  readonly onTrailers?: (trailers: Metadata) => void
}
