import { type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import {
  type CallOptions,
  ChannelCredentials,
  Client,
  type ClientUnaryCall,
  type Metadata as GrpcMetadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { AshlarError } from '../../errors.js'
import { fromGrpc, toGrpc } from '../../server/grpc/metadata.js'
import { endedBy, failureOf } from './transport-failure.js'
import { knownTypes } from './known-types.js'
import type { Attempt, ClientTransport } from './transport.js'

/** Options of a client's connection over gRPC. */
export interface GrpcTransportOptions {
  /**
   * TLS. True trusts the system's certificate authorities. Certificates and keys are PEM. Default: false,
   * which sends everything as plain text.
   */
  readonly tls?:
    | boolean
    | {
        readonly rootCertificates?: string | Uint8Array
        readonly certificateChain?: string | Uint8Array
        readonly privateKey?: string | Uint8Array
      }
  /** Maximum size of a response message in bytes. Default: 4 MiB. */
  readonly maxResponseBytes?: number
}

/** The members that all kinds of grpc-js calls have. */
type Emitter = Pick<NodeJS.EventEmitter, 'on'>

/**
 * Returns a gRPC transport for one address. Connections are opened by the first call and reopened if they
 * break.
 * @param address - `host:port`, without a scheme.
 * @example
 * ```ts
 * import { grpcTransport } from 'ashlar/client'
 *
 * export const transport = grpcTransport('api.example.com:443', { tls: true })
 * ```
 */
export function grpcTransport(address: string, options: GrpcTransportOptions = {}): ClientTransport {
  if (!/^[^/\s]+:\d+$/.test(address))
    throw new TypeError(`grpcTransport: ${JSON.stringify(address)} is not host:port, such as localhost:9090`)
  const { maxResponseBytes = 4 * 1024 * 1024 } = options
  if (!Number.isSafeInteger(maxResponseBytes) || maxResponseBytes < 1)
    throw new RangeError(
      `grpcTransport: maxResponseBytes is ${maxResponseBytes}, but must be a positive integer`,
    )
  return new GrpcTransport(
    new Client(address, credentialsOf(options.tls), { 'grpc.max_receive_message_length': maxResponseBytes }),
  )
}

class GrpcTransport implements ClientTransport {
  constructor(private readonly client: Client) {}

  async unary(method: DescMethod, request: Message, attempt: Attempt): Promise<Message> {
    const { path, write, read, metadata, options } = callOf(method, attempt)
    return responseOf(method, attempt, (ended) =>
      this.client.makeUnaryRequest(path, write, read, request, metadata, options, ended),
    )
  }

  async clientStream(
    method: DescMethod,
    requests: AsyncIterable<Message>,
    attempt: Attempt,
  ): Promise<Message> {
    const { path, write, read, metadata, options } = callOf(method, attempt)
    return responseOf(
      method,
      attempt,
      (ended) => this.client.makeClientStreamRequest(path, write, read, metadata, options, ended),
      (call) => send(call, requests),
    )
  }

  async *serverStream(method: DescMethod, request: Message, attempt: Attempt): AsyncIterable<Message> {
    const { path, write, read, metadata, options } = callOf(method, attempt)
    const call = this.client.makeServerStreamRequest(path, write, read, request, metadata, options)
    const stop = follow(call, () => call.cancel(), attempt)
    try {
      yield* received(call, method, attempt)
    } finally {
      stop()
      call.cancel()
    }
  }

  async *bidiStream(
    method: DescMethod,
    requests: AsyncIterable<Message>,
    attempt: Attempt,
  ): AsyncIterable<Message> {
    const { path, write, read, metadata, options } = callOf(method, attempt)
    const call = this.client.makeBidiStreamRequest(path, write, read, metadata, options)
    const stop = follow(call, () => call.cancel(), attempt)
    let failure: unknown
    send(call, requests).catch((error: unknown) => {
      failure = error
      call.cancel()
    })
    try {
      yield* received(call, method, attempt)
    } catch (error) {
      throw failure ?? error
    } finally {
      stop()
      call.cancel()
    }
  }

  close(): void {
    this.client.close()
  }
}

const callOf = ({ parent, name, input, output }: DescMethod, { metadata, deadline }: Attempt) => ({
  path: `/${parent.typeName}/${name}`,
  write: (message: Message) => Buffer.from(toBinary(input, message)),
  read: (bytes: Buffer): Message => fromBinary(output, bytes),
  metadata: toGrpc(metadata),
  options: (deadline === undefined ? {} : { deadline }) satisfies CallOptions,
})

/**
 * Sends a call that has a single response.
 * @param write - writes the requests if they are a stream. If it fails, the call is cancelled.
 */
function responseOf<C extends ClientUnaryCall>(
  method: DescMethod,
  attempt: Attempt,
  start: (ended: (error: ServiceError | null, response?: Message) => void) => C,
  write?: (call: C) => Promise<void>,
): Promise<Message> {
  return new Promise((resolve, reject) => {
    const call = start((error, response) => {
      if (error !== null) reject(errorOf(error, method, attempt))
      else resolve(response as Message)
      stop()
    })
    const stop = follow(call, () => call.cancel(), attempt)
    write?.(call).catch((error: unknown) => {
      reject(error as Error)
      call.cancel()
    })
  })
}

/**
 * Reports headers and trailers of a call, and cancels it with its signal. Returns a function that removes the
 * listeners.
 */
function follow(call: Emitter, cancel: () => void, { signal, onHeaders, onTrailers }: Attempt): () => void {
  // A cancelled stream emits an error after its last reader has left.
  call.on('error', () => {})
  if (onHeaders) call.on('metadata', (metadata: GrpcMetadata) => onHeaders(fromGrpc(metadata)))
  if (onTrailers) call.on('status', ({ metadata }: StatusObject) => onTrailers(fromGrpc(metadata)))
  if (signal?.aborted === true) cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  return () => signal?.removeEventListener('abort', cancel)
}

async function* received(
  call: AsyncIterable<unknown>,
  method: DescMethod,
  attempt: Attempt,
): AsyncIterable<Message> {
  try {
    for await (const message of call) yield message as Message
  } catch (error) {
    throw errorOf(error as ServiceError, method, attempt)
  }
}

/** Writes requests as fast as the server reads them, until there are no more or the call has ended. */
async function send(call: Writable, requests: AsyncIterable<Message>): Promise<void> {
  const ended = new AbortController()
  call.on('status', () => ended.abort())
  for await (const request of requests) {
    if (ended.signal.aborted) return
    if (!call.write(request)) await once(call, 'drain', { signal: ended.signal }).catch(() => {})
  }
  call.end()
}

const errorOf = (error: ServiceError, method: DescMethod, { deadline, signal }: Attempt): AshlarError => {
  const bytes = error.metadata.get('grpc-status-details-bin')[0]
  const status = typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : bytes
  const own = bytes === undefined ? endedBy(deadline, signal) : undefined
  return own ?? failureOf(error.code, error.details, status, knownTypes(method), error)
}

const credentialsOf = (tls: GrpcTransportOptions['tls'] = false): ChannelCredentials => {
  if (tls === false) return ChannelCredentials.createInsecure()
  const { rootCertificates, certificateChain, privateKey } = tls === true ? {} : tls
  const bytes = (pem: string | Uint8Array | undefined) =>
    pem === undefined ? null : Buffer.from(pem as string)
  return ChannelCredentials.createSsl(bytes(rootCertificates), bytes(privateKey), bytes(certificateChain))
}
