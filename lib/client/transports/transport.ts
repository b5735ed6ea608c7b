import type { DescMethod, Message } from '@bufbuild/protobuf'
import type { Metadata } from '../../call.js'

/** One attempt of a call. */
export interface Attempt {
  readonly metadata: Metadata
  /** Milliseconds since the epoch; undefined for a stream that may take any time. */
  readonly deadline: number | undefined
  readonly signal: AbortSignal | undefined
  /** Called with what the server sends before its first message. */
  readonly onHeaders?: ((headers: Metadata) => void) | undefined
  /** Called with what it sends at the end, errors included. */
  readonly onTrailers?: ((trailers: Metadata) => void) | undefined
}

/**
 * A client's connection to one server: `grpcTransport` or `connectTransport`. It knows one address, and never
 * sends its credentials to another. Its failures are AshlarErrors.
 */
export interface ClientTransport {
  /** One request, one response. */
  unary(method: DescMethod, request: Message, attempt: Attempt): Promise<Message>
  /** One request, a stream of responses. */
  serverStream(method: DescMethod, request: Message, attempt: Attempt): AsyncIterable<Message>
  /** A stream of requests, one response. */
  clientStream(method: DescMethod, requests: AsyncIterable<Message>, attempt: Attempt): Promise<Message>
  /** A stream each way. */
  bidiStream(method: DescMethod, requests: AsyncIterable<Message>, attempt: Attempt): AsyncIterable<Message>
  /** Closes its connections. Calls that are running fail. */
  close(): void
}
