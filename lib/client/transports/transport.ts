import type { DescMethod, Message } from '@bufbuild/protobuf'
import type { Metadata } from '../../call.js'

/** One attempt of a call. */
export interface Attempt {
  readonly metadata: Metadata
  /** Milliseconds since the epoch; undefined for a stream without a limit. */
  readonly deadline: number | undefined
  readonly signal: AbortSignal | undefined
  /** Called with the response headers. */
  readonly onHeaders?: ((headers: Metadata) => void) | undefined
  /** Called with the trailers, also after an error. */
  readonly onTrailers?: ((trailers: Metadata) => void) | undefined
}

/**
 * A client's connection to one server: `grpcTransport` or `connectTransport`. It uses one address and never
 * sends its credentials to another. Its errors are AshlarErrors.
 */
export interface ClientTransport {
  /** Sends one request and returns one response. */
  unary(method: DescMethod, request: Message, attempt: Attempt): Promise<Message>
  /** Sends one request and returns a stream of responses. */
  serverStream(method: DescMethod, request: Message, attempt: Attempt): AsyncIterable<Message>
  /** Sends a stream of requests and returns one response. */
  clientStream(method: DescMethod, requests: AsyncIterable<Message>, attempt: Attempt): Promise<Message>
  /** Sends a stream of requests and returns a stream of responses. */
  bidiStream(method: DescMethod, requests: AsyncIterable<Message>, attempt: Attempt): AsyncIterable<Message>
  /** Closes the connections. Running calls fail. */
  close(): void
}
