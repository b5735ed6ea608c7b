import type { ConnectError, Transport, UnaryResponse } from '@connectrpc/connect'
import type { UniversalClientRequest, UniversalClientResponse } from '@connectrpc/connect/protocol'
import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type Message,
  toBinary,
} from '@bufbuild/protobuf'
import { AnySchema } from '@bufbuild/protobuf/wkt'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { Metadata } from '../../call.js'
import { AshlarError } from '../../errors.js'
import { endedBy, failureOf } from './transport-failure.js'
import { knownTypes } from './known-types.js'
import type { Attempt, ClientTransport } from './transport.js'

/** Options of a client's connection over HTTP. */
export interface ConnectTransportOptions {
  /** Maximum size of a response message in bytes after decompression. Default: 4 MiB. */
  readonly maxResponseBytes?: number
  /**
   * Replaces the global `fetch`. It is called with `redirect: 'manual'`, so that metadata is never sent to
   * another server.
   */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * Returns a transport for Connect over HTTP with binary messages: unary methods and server streams. Requires
 * the package `@connectrpc/connect` and a server with `gateway: { connect: true }`.
 * @param baseUrl - the prefix of method paths, such as `https://api.example.com`.
 * @example
 * ```ts
 * import { connectTransport } from 'ashlar/client'
 *
 * export const transport = connectTransport('https://api.example.com')
 * ```
 */
export function connectTransport(baseUrl: string, options: ConnectTransportOptions = {}): ClientTransport {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError('connectTransport: the address must be an http or https URL')
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '')
    throw new TypeError(
      'connectTransport: the address has a user, a query or a fragment; send tokens as metadata',
    )
  const { maxResponseBytes = 4 * 1024 * 1024, fetch: fetchWith = globalThis.fetch } = options
  if (!Number.isSafeInteger(maxResponseBytes) || maxResponseBytes < 1)
    throw new RangeError(
      `connectTransport: maxResponseBytes is ${maxResponseBytes}, but must be a positive integer`,
    )
  return new ConnectTransport(`${url.origin}${url.pathname.replace(/\/+$/, '')}`, maxResponseBytes, fetchWith)
}

class ConnectTransport implements ClientTransport {
  readonly #closed = new AbortController()
  #loading: Promise<{ readonly transport: Transport; readonly ConnectError: typeof ConnectError }> | undefined

  constructor(
    private readonly baseUrl: string,
    private readonly maxBytes: number,
    private readonly fetchWith: typeof fetch,
  ) {}

  async unary(method: DescMethod, request: Message, attempt: Attempt): Promise<Message> {
    const { transport } = await this.#load()
    try {
      const response = await transport.unary(method as DescMethodUnary, ...this.#sent(attempt), request)
      reportHeaders(response, attempt)
      attempt.onTrailers?.(metadataOf(response.trailer))
      return response.message
    } catch (error) {
      throw await this.#failure(error, method, attempt)
    }
  }

  async *serverStream(method: DescMethod, request: Message, attempt: Attempt): AsyncIterable<Message> {
    const { transport } = await this.#load()
    const left = new AbortController()
    const [signal, ...rest] = this.#sent(attempt)
    try {
      const response = await transport.stream(
        method as DescMethodServerStreaming,
        AbortSignal.any([signal, left.signal]),
        ...rest,
        only(request),
      )
      reportHeaders(response, attempt)
      yield* response.message
      attempt.onTrailers?.(metadataOf(response.trailer))
    } catch (error) {
      throw await this.#failure(error, method, attempt)
    } finally {
      left.abort()
    }
  }

  clientStream(method: DescMethod): Promise<Message> {
    return Promise.reject(streamsRequests(method))
  }

  async *bidiStream(method: DescMethod): AsyncIterable<Message> {
    throw await Promise.resolve(streamsRequests(method))
  }

  close(): void {
    this.#closed.abort()
  }

  #sent({ metadata, deadline, signal }: Attempt): [AbortSignal, number | undefined, Headers] {
    return [
      signal === undefined ? this.#closed.signal : AbortSignal.any([signal, this.#closed.signal]),
      // Zero would mean that there is no timeout.
      deadline === undefined ? undefined : Math.max(1, Math.ceil(deadline - Date.now())),
      new Headers([...metadata.entries()]),
    ]
  }

  async #failure(
    error: unknown,
    method: DescMethod,
    { deadline, signal, onTrailers }: Attempt,
  ): Promise<unknown> {
    const { ConnectError: Failure } = await this.#load()
    if (error instanceof AshlarError) return error
    if (this.#closed.signal.aborted)
      return new AshlarError('CANCELLED', 'the transport was closed', { cause: error })
    const failure = Failure.from(error)
    onTrailers?.(metadataOf(failure.metadata))
    const details = failure.details.flatMap((detail) =>
      'type' in detail
        ? [create(AnySchema, { typeUrl: `type.googleapis.com/${detail.type}`, value: detail.value })]
        : [],
    )
    const own = details.length === 0 ? endedBy(deadline, signal) : undefined
    const status = toBinary(StatusSchema, create(StatusSchema, { details }))
    return own ?? failureOf(failure.code, failure.rawMessage, status, knownTypes(method), error)
  }

  #load() {
    return (this.#loading ??= this.#create())
  }

  async #create() {
    const [{ ConnectError, Code }, { createTransport }] = await Promise.all([
      import('@connectrpc/connect'),
      import('@connectrpc/connect/protocol-connect'),
    ]).catch((error: unknown) => {
      if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
      throw new TypeError(
        'connectTransport needs the package @connectrpc/connect: npm install @connectrpc/connect',
      )
    })
    const httpClient = async (request: UniversalClientRequest): Promise<UniversalClientResponse> => {
      try {
        return await fetched(this.fetchWith, request)
      } catch (error) {
        request.signal?.throwIfAborted()
        throw new ConnectError('the server cannot be reached', Code.Unavailable, undefined, undefined, error)
      }
    }
    const transport = createTransport({
      ...{ baseUrl: this.baseUrl, httpClient, useBinaryFormat: true, interceptors: [] },
      ...{ acceptCompression: [], sendCompression: null, compressMinBytes: 0 },
      ...{ readMaxBytes: this.maxBytes, writeMaxBytes: 0xffffffff },
    })
    return { transport, ConnectError }
  }
}

const fetched = async (
  fetchWith: typeof fetch,
  { url, method, header, body, signal }: UniversalClientRequest,
): Promise<UniversalClientResponse> => {
  const response = await fetchWith(url, {
    method,
    headers: header,
    // Following a redirect would send the metadata to another server.
    redirect: 'manual',
    ...(body !== undefined && { body: await whole(body) }),
    ...(signal !== undefined && { signal }),
  })
  const headers = new Headers(response.headers)
  // `fetch` has decompressed the body.
  headers.delete('content-encoding')
  headers.delete('content-length')
  return {
    status: response.status,
    header: headers,
    body: received(response),
    trailer: new Headers(),
  }
}

const whole = async (parts: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> => {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all) as Uint8Array<ArrayBuffer>
}

/**
 * Reads a body. A generator, because the package ends reading with an error, which a stream of `fetch` does
 * not support.
 */
async function* received({ body }: Response): AsyncIterable<Uint8Array> {
  // The DOM's types lack the iterator that Node has.
  if (body !== null) yield* body as unknown as AsyncIterable<Uint8Array>
}

async function* only<T>(value: T): AsyncIterable<T> {
  yield await Promise.resolve(value)
}

const reportHeaders = ({ header }: Pick<UnaryResponse, 'header'>, { onHeaders }: Attempt): void =>
  onHeaders?.(metadataOf(header))

const metadataOf = (headers: Headers): Metadata => new Metadata(headers)

const streamsRequests = ({ name }: DescMethod): AshlarError =>
  new AshlarError('UNIMPLEMENTED', `${name} streams its requests, which requires grpcTransport`)
