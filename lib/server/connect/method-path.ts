import type { UniversalHandler } from '@connectrpc/connect/protocol'
import { create, type DescMethod, type Registry } from '@bufbuild/protobuf'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Caller, type Dispatcher, type Incoming, Metadata } from '../../call.js'
import type { ExactPath } from '../../gateway/exact-path.js'
import { type CorsOptions, isUnaskedFromPage } from '../../gateway/http/cors.js'
import { OwnStatusError } from '../../gateway/http/own-status-error.js'
import { metadataOf } from '../../gateway/http/metadata-of.js'
import { keepAllPrivate } from '../../gateway/http/respond.js'
import type { UnauthenticatedBytes } from '../../bounds/unauthenticated-bytes.js'
import { requestBytes } from '../chain/method.js'
import { type Arriving, arriving } from './arriving.js'
import type { Calling, Responded } from './connected-call.js'
import { checkVersion, fromQuery, parametersOf } from './query-request.js'
import type { RequestForm } from './request-bytes.js'
import { sendUniversal } from './send-universal.js'
import { deadlineOf } from './deadline-of.js'
import { formatOf, formatsOf, type WireFormat } from './wire-format.js'

/** The parts that all paths share. */
export interface Serving extends Calling {
  readonly registry: Registry
  readonly unauthenticated: UnauthenticatedBytes
  /** Request headers that become metadata. Other headers do not reach the chain. */
  readonly forwarded: readonly string[]
  /** Maximum bytes of a body, and of a message after decompression. */
  readonly maxBodyBytes: number
  /** The CORS options for pages of other origins. */
  readonly pages: CorsOptions | undefined
  /** True if responses are compressed for clients that accept it. */
  readonly compress: boolean
  /** True if gRPC is served over HTTP/2. */
  readonly grpc: boolean
}

/** The format of a request and a function that reads its body, or the error of an invalid request. */
type Asked =
  OwnStatusError | { readonly format: WireFormat; readonly read: (coding?: string) => Promise<Arriving> }

/**
 * Returns the handler of a method's path. This code reads the request. An unreadable request also passes the
 * chain, so that it is rate-limited and logged. The package's handler writes the response.
 */
export const methodPath = (serving: Serving, method: DescMethod, handler: UniversalHandler): ExactPath => {
  const { dispatcher, forwarded } = serving
  const isStreaming = method.methodKind !== 'unary'
  const overHttp1 = formatsOf(isStreaming, false)
  const overHttp2 = formatsOf(isStreaming, serving.grpc)
  const methods = isReadByGet(method) ? ['GET', 'POST'] : ['POST']
  return {
    methods,
    async serve(request, response, query, caller) {
      const formats = request.httpVersionMajor >= 2 ? overHttp2 : overHttp1
      const allowed = { methods, formats }
      const asked = askedOf(serving, method, allowed, { request, response, query, caller })
      if (asked instanceof OwnStatusError)
        return refuse(dispatcher, incomingOf(method, forwarded, request, caller), asked)
      const { format } = asked
      const arrived = await asked.read()
      const faults: unknown[] = [arrived.unreadable]
      const deadline = attempt(() => deadlineOf(format, request.headers, Date.now()), faults)
      attempt(() => checkVersion(request.headers['connect-protocol-version'] as string | undefined), faults)
      const plain = incomingOf(method, forwarded, request, caller, faults)
      const responded: Responded = { message: undefined }
      const incoming: Incoming = {
        ...plain,
        deadline,
        ...(arrived.rest !== undefined && { rest: arrived.rest }),
        unreadable: faults.find((fault) => fault !== undefined) as Error | undefined,
        held: arrived.held,
        encode: (response, maxBytes) => {
          responded.message = '$typeName' in response ? response : response.message
          serving.write(method, responded.message, format, maxBytes)
        },
      }
      try {
        prepare(response, request, method)
        const contextValues = serving.connect.createContextValues()
        contextValues.set(serving.key, { incoming, message: arrived.message, format, responded })
        const reply = await handler({
          httpVersion: request.httpVersion,
          method: 'POST',
          url: `http://localhost${handler.requestPath}`,
          header: acceptedBy(request, format, serving.compress),
          body: nothingIn(format),
          signal: caller.signal,
          contextValues,
        })
        await sendUniversal(response, reply)
      } finally {
        arrived.held?.drop()
      }
    },
  }
}

const isReadByGet = ({ idempotency, methodKind }: DescMethod): boolean =>
  methodKind === 'unary' && idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS

interface Received {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: string
  readonly caller: Caller
}

/** Determines the format of a request. */
const askedOf = (
  { dispatcher, registry, maxBodyBytes, unauthenticated, pages }: Serving,
  method: DescMethod,
  { methods, formats }: { readonly methods: readonly string[]; readonly formats: readonly WireFormat[] },
  { request, response, query, caller }: Received,
): Asked => {
  const { method: httpMethod = '', headers } = request
  const { input, name } = method
  if (!methods.includes(httpMethod))
    return new OwnStatusError(405, 'UNIMPLEMENTED', `${name} supports ${methods.join(' and ')} only`, {
      allow: ['OPTIONS', ...methods].sort().join(', '),
    })
  const formOf = (format: WireFormat): RequestForm => {
    const coding = headers[format.protocol === 'connect' ? 'connect-content-encoding' : 'grpc-encoding']
    const isCoded = format.isEnveloped && typeof coding === 'string'
    const limit = requestBytes(method, maxBodyBytes)
    return {
      ...{ method, format, coding: isCoded ? coding : undefined, limit, registry, unauthenticated },
      limits: dispatcher.limits,
    }
  }
  if (httpMethod === 'GET') {
    const faults: unknown[] = []
    const parameters = attempt(() => parametersOf(query), faults) ?? new Map<string, string>()
    const encoding = parameters.get('encoding')
    const format = formatOf(formats, `application/${faults.length > 0 ? 'json' : String(encoding)}`)
    if (format === undefined || format.isEnveloped)
      return new OwnStatusError(415, 'INVALID_ARGUMENT', 'the parameter encoding must be json or proto')
    const unreadable = faults[0] as Error | undefined
    const read = () =>
      unreadable === undefined
        ? fromQuery(formOf(format), parameters, request, caller)
        : Promise.resolve({ message: create(input), unreadable })
    return { format, read }
  }
  const format = formatOf(formats, headers['content-type'])
  if (format !== undefined && isUnaskedFromPage(pages, request))
    return new OwnStatusError(415, 'INVALID_ARGUMENT', 'a page of another origin must not send this request')
  if (format !== undefined) return { format, read: () => arriving(formOf(format), request, response, caller) }
  const types = formats.map(({ contentType }) => contentType).join(', ')
  return new OwnStatusError(415, 'INVALID_ARGUMENT', `the Content-Type must be one of ${types}`, {
    'accept-post': types,
  })
}

/** Returns the request properties that all protocols share, as the chain receives them. */
const incomingOf = (
  method: DescMethod,
  forwarded: readonly string[],
  request: IncomingMessage,
  caller: Caller,
  faults: unknown[] = [],
): Incoming => ({
  method,
  transport: 'http',
  metadata:
    attempt(() => metadataOf(request, forwarded), faults) ??
    new Metadata([['x-request-id', String(request.headers['x-request-id'] ?? '')]]),
  caller,
  deadline: undefined,
  peer: `${request.socket.remoteAddress ?? ''}:${request.socket.remotePort ?? ''}`,
  headers: new Metadata(),
  trailers: new Metadata(),
  encode: () => {},
})

/**
 * Passes a request without a valid format to the chain, which limits and logs it.
 * @throws the chain's error.
 */
const refuse = async (
  dispatcher: Dispatcher,
  incoming: Incoming,
  unreadable: OwnStatusError,
): Promise<never> => {
  const refused = { ...incoming, unreadable }
  const message = create(incoming.method.input)
  if (incoming.method.methodKind === 'unary') await dispatcher.unary(refused, message)
  else for await (const _ of dispatcher.stream(refused, only(message))) break
  throw unreadable
}

async function* only<T>(item: T): AsyncIterable<T> {
  yield await Promise.resolve(item)
}

/** Sets the headers that every response of the path needs. */
const prepare = (response: ServerResponse, request: IncomingMessage, method: DescMethod): void => {
  if (request.method === 'GET') keepAllPrivate(response)
  if (method.methodKind === 'unary') return
  response.setHeader('cache-control', 'no-store')
  response.setHeader('x-accel-buffering', 'no')
}

/** Returns the request headers that Connect's handler needs to write a response. */
const acceptedBy = ({ headers }: IncomingMessage, format: WireFormat, compress: boolean): Headers => {
  const sent = new Headers({ 'content-type': format.contentType })
  const name = format.isEnveloped
    ? `${format.protocol === 'connect' ? 'connect' : 'grpc'}-accept-encoding`
    : 'accept-encoding'
  const accepted = headers[name]
  if (compress && typeof accepted === 'string') sent.set(name, accepted)
  return sent
}

const EMPTY_JSON = [0x7b, 0x7d]

/** Yields an empty message for Connect's handler to read. */
async function* nothingIn({ isJson, isEnveloped }: WireFormat): AsyncIterable<Uint8Array> {
  const content = isJson ? EMPTY_JSON : []
  yield await Promise.resolve(
    Uint8Array.from(isEnveloped ? [0, 0, 0, 0, content.length, ...content] : content),
  )
}

/** Returns the result of `read`; if it throws, adds the error to `faults` and returns undefined. */
const attempt = <T>(read: () => T, faults: unknown[]): T | undefined => {
  try {
    return read()
  } catch (error) {
    faults.push(error)
    return undefined
  }
}
