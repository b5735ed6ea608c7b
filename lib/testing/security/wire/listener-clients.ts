import {
  type DescMethod,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toBinary,
} from '@bufbuild/protobuf'
import * as grpc from '@grpc/grpc-js'
import { CODES } from '../../../errors.js'
import { httpRequestOf } from './http-request.js'

/** The result of a call. */
export interface Outcome {
  readonly transport: 'grpc' | 'http'
  readonly code: number
  /** The error message. */
  readonly message: string
  /** The headers and trailers. */
  readonly metadata: string
  /** Everything that the caller received as text, including headers, trailers and bytes. */
  readonly said: string
  /** The first response. */
  readonly response: Message | undefined
  /** False after a timeout or a broken connection. */
  readonly isDone: boolean
}

export type Headers = Readonly<Record<string, string>>

/** A client of one listener. */
export interface ListenerClient {
  readonly name: 'grpc' | 'http'
  /**
   * Sends one message and waits for the end of the call. Resolves to undefined if this listener cannot
   * express the call.
   */
  send(desc: DescMethod, request: Message, headers: Headers): Promise<Outcome | undefined>
  close(): void
}

/** The timeout of a call in milliseconds. */
export const WITHIN_MS = 10_000
/** The maximum number of responses that are read from an endless stream. */
const MAX_RESPONSES = 20

export const grpcListenerClient = (address: string): ListenerClient => {
  const client = new grpc.Client(address, grpc.credentials.createInsecure())
  return {
    name: 'grpc',
    send: (desc, request, headers) => sendGrpc(client, desc, request, headers),
    close: () => client.close(),
  }
}

const sendGrpc = (
  client: grpc.Client,
  desc: DescMethod,
  request: Message,
  headers: Headers,
): Promise<Outcome> => {
  const path = `/${desc.parent.typeName}/${desc.name}`
  const metadata = new grpc.Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  const options = { deadline: Date.now() + WITHIN_MS }
  const write = (message: Message) => Buffer.from(toBinary(desc.input, message))
  const read = (bytes: Buffer) => bytes
  return new Promise((resolve) => {
    const responses: Buffer[] = []
    const received: string[] = []
    const keep = (bytes: Buffer | undefined) => {
      if (bytes !== undefined) responses.push(bytes)
      if (responses.length >= MAX_RESPONSES) call.cancel()
    }
    const done = (_: unknown, bytes?: Buffer) => keep(bytes)
    const call = begin(client, desc, { path, write, read, request, metadata, options, done })
    if (desc.methodKind === 'server_streaming' || desc.methodKind === 'bidi_streaming') call.on('data', keep)
    call.on('error', () => {}) // the status event reports it as well
    call.on('metadata', (metadata: grpc.Metadata) => received.push(metadataText(metadata)))
    call.on('status', ({ code, details, metadata: trailers }: grpc.StatusObject) => {
      received.push(metadataText(trailers))
      const [first] = responses
      resolve({
        transport: 'grpc',
        code: responses.length >= MAX_RESPONSES ? 0 : code,
        message: code === 0 ? '' : details,
        metadata: received.join('\n'),
        said: [details, ...received, ...responses.map((bytes) => bytes.toString('latin1'))].join('\n'),
        response: first === undefined ? undefined : fromBinary(desc.output, first),
        isDone: code !== grpc.status.DEADLINE_EXCEEDED || Date.now() < options.deadline,
      })
    })
  })
}

interface Begin {
  readonly path: string
  readonly write: (message: Message) => Buffer
  readonly read: (bytes: Buffer) => Buffer
  readonly request: Message
  readonly metadata: grpc.Metadata
  readonly options: grpc.CallOptions
  readonly done: (error: unknown, bytes?: Buffer) => void
}

/** The members that all kinds of calls have. */
type Begun = Pick<grpc.Call, 'cancel'> & NodeJS.EventEmitter

const begin = (client: grpc.Client, { methodKind }: DescMethod, call: Begin): Begun => {
  const { path, write, read, request, metadata, options, done } = call
  if (methodKind === 'unary')
    return client.makeUnaryRequest(path, write, read, request, metadata, options, done)
  if (methodKind === 'server_streaming')
    return client.makeServerStreamRequest(path, write, read, request, metadata, options)
  const stream =
    methodKind === 'client_streaming'
      ? client.makeClientStreamRequest(path, write, read, metadata, options, done)
      : client.makeBidiStreamRequest(path, write, read, metadata, options)
  stream.write(request)
  stream.end()
  return stream
}

const metadataText = (metadata: grpc.Metadata): string =>
  Object.keys(metadata.getMap())
    .flatMap((name) => metadata.get(name).map((value) => `${name}: ${Buffer.from(value).toString('latin1')}`))
    .join('\n')

export const httpListenerClient = (url: string): ListenerClient => ({
  name: 'http',
  async send(desc, request, headers) {
    const form = httpRequestOf(desc, request)
    if (form === undefined) return undefined
    const { method, path, body } = form
    // Compressing responses would only take time.
    const type = {
      'accept-encoding': 'identity',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const received = await fetchText(url + path, {
      method,
      headers: { ...headers, ...type },
      ...(body !== undefined && { body }),
    })
    if (received === undefined) return NOT_DONE
    const { response, text } = received
    const code = response.ok ? CODES.OK : codeOf(text, response.status)
    const metadata = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
    return {
      transport: 'http',
      code,
      message: response.ok ? '' : text,
      metadata,
      said: `${metadata}\n${text}`,
      response: response.ok ? responseIn(desc, text) : undefined,
      isDone: true,
    }
  },
  close: () => {},
})

const fetchText = async (url: string, init: RequestInit) => {
  try {
    const response = await fetch(url, {
      ...init,
      signal: AbortSignal.timeout(WITHIN_MS),
      redirect: 'manual',
    })
    return { response, text: await response.text() }
  } catch {
    return undefined // a timeout or a broken connection
  }
}

const NOT_DONE: Outcome = {
  transport: 'http',
  code: CODES.DEADLINE_EXCEEDED,
  message: '',
  metadata: '',
  said: '',
  response: undefined,
  isDone: false,
}

const BY_STATUS: Readonly<Record<number, number>> = {
  400: CODES.INVALID_ARGUMENT,
  401: CODES.UNAUTHENTICATED,
  403: CODES.PERMISSION_DENIED,
  404: CODES.NOT_FOUND,
  412: CODES.FAILED_PRECONDITION,
}

const codeOf = (text: string, status: number): number => {
  try {
    const { code } = JSON.parse(text) as { code?: unknown }
    if (typeof code === 'number' && code !== 0) return code
  } catch {
    // It is not JSON, so the status must suffice.
  }
  return BY_STATUS[status] ?? CODES.UNKNOWN
}

const responseIn = (desc: DescMethod, text: string): Message | undefined => {
  try {
    return fromJson(desc.output, JSON.parse(text) as JsonValue, { ignoreUnknownFields: true })
  } catch {
    return undefined // a partial response_body, or a stream
  }
}
