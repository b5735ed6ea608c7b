import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import {
  create,
  createRegistry,
  type DescMessage,
  type DescMethod,
  fromBinary,
  fromJsonString,
  type Message,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { CODES } from '../../../lib/errors.js'
import { file_calls } from '../gen/calls_pb.js'

/** The protocol and encoding of a call. */
export interface Wire {
  readonly protocol: 'connect' | 'grpc-web'
  readonly codec: 'proto' | 'json'
  readonly compression: 'identity' | 'gzip' | 'br'
}

/** The response to a call. */
export interface Outcome {
  readonly status: number
  /** `ok`, or the code in lower case. Empty if the response does not follow the protocol. */
  readonly code: string
  readonly message: string
  readonly details: readonly { readonly type: string; readonly value: Uint8Array }[]
  readonly headers: Headers
  readonly trailers: ReadonlyMap<string, string>
  readonly messages: readonly Message[]
  /** True if any part of the response was compressed. */
  readonly wasCompressed: boolean
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly httpMethod?: 'GET' | 'POST'
  readonly signal?: AbortSignal
}

const registry = createRegistry(file_calls)
const squeeze = { identity: (bytes: Uint8Array) => bytes, gzip: gzipSync, br: brotliCompressSync } as const
const expand = { identity: (bytes: Uint8Array) => bytes, gzip: gunzipSync, br: brotliDecompressSync } as const
type Coding = keyof typeof squeeze

const encode = (codec: Wire['codec'], desc: DescMessage, message: Message): Uint8Array =>
  codec === 'proto' ? toBinary(desc, message) : Buffer.from(toJsonString(desc, message, { registry }))

const decode = (codec: Wire['codec'], desc: DescMessage, bytes: Uint8Array): Message =>
  codec === 'proto'
    ? fromBinary(desc, bytes)
    : fromJsonString(desc, Buffer.from(bytes).toString(), { registry })

/** Returns an envelope, which is the same in both protocols. */
export const envelope = (flags: number, content: Uint8Array): Buffer => {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt8(flags)
  prefix.writeUInt32BE(content.length, 1)
  return Buffer.concat([prefix, content])
}

/** Calls a method with bytes that are written here, without the package that the server uses. */
export async function wireCall(
  origin: string,
  wire: Wire,
  method: DescMethod,
  init: object,
  options: CallOptions = {},
): Promise<Outcome> {
  const { protocol, codec, compression } = wire
  const isEnveloped = protocol === 'grpc-web' || method.methodKind !== 'unary'
  const content = squeeze[compression](encode(codec, method.input, create(method.input, init as never)))
  const body = isEnveloped ? envelope(compression === 'identity' ? 0 : 1, content) : content
  const path = `${origin}/${method.parent.typeName}/${method.name}`
  const init0 = { ...options.headers, ...headersOf(wire, isEnveloped, options.timeoutMs) }
  const signal = options.signal ?? null
  const response =
    options.httpMethod === 'GET'
      ? await fetch(`${path}?${queryOf(wire, content)}`, { headers: withoutBody(init0), signal })
      : await fetch(path, { method: 'POST', headers: init0, body: new Uint8Array(body), signal })
  return outcomeOf(response, wire, isEnveloped, method)
}

const headersOf = (
  { protocol, codec, compression }: Wire,
  isEnveloped: boolean,
  timeoutMs: number | undefined,
): Record<string, string> => {
  const kind = protocol === 'grpc-web' ? 'grpc-web+' : isEnveloped ? 'connect+' : ''
  const prefix = protocol === 'grpc-web' ? 'grpc-' : isEnveloped ? 'connect-content-' : 'content-'
  const accept = protocol === 'grpc-web' ? 'grpc-accept-' : isEnveloped ? 'connect-accept-' : 'accept-'
  const timeout = protocol === 'grpc-web' ? `${timeoutMs}m` : String(timeoutMs)
  return {
    'content-type': `application/${kind}${codec}`,
    ...(compression !== 'identity' && { [`${prefix}encoding`]: compression }),
    [`${accept}encoding`]: compression,
    ...(timeoutMs !== undefined && {
      [protocol === 'grpc-web' ? 'grpc-timeout' : 'connect-timeout-ms']: timeout,
    }),
  }
}

const withoutBody = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name !== 'content-type' && name !== 'content-encoding'),
  )

const queryOf = ({ codec, compression }: Wire, content: Uint8Array): URLSearchParams =>
  new URLSearchParams({
    connect: 'v1',
    encoding: codec,
    base64: '1',
    message: Buffer.from(content).toString('base64url'),
    ...(compression !== 'identity' && { compression }),
  })

const outcomeOf = async (
  response: Response,
  { protocol, codec }: Wire,
  isEnveloped: boolean,
  { output }: DescMethod,
): Promise<Outcome> => {
  const { status, headers } = response
  const bytes = new Uint8Array(await response.arrayBuffer())
  const nothing = { status, headers, details: [], trailers: new Map<string, string>(), messages: [] }
  const type = headers.get('content-type') ?? ''
  if (isEnveloped && !/^application\/(?:connect\+|grpc-web)/.test(type))
    return { ...nothing, code: '', message: Buffer.from(bytes).toString(), wasCompressed: false }
  if (isEnveloped) {
    const coding = headers.get(protocol === 'connect' ? 'connect-content-encoding' : 'grpc-encoding')
    const { messages, last, wasCompressed } = split(bytes, (coding ?? 'identity') as Coding)
    const end = protocol === 'connect' ? connectEnd(last) : webEnd(last)
    return {
      status,
      headers,
      wasCompressed,
      messages: messages.map((one) => decode(codec, output, one)),
      ...end,
    }
  }
  // fetch has already decompressed the body.
  const wasCompressed = headers.has('content-encoding')
  const trailers = new Map<string, string>()
  for (const [name, value] of headers) if (name.startsWith('trailer-')) trailers.set(name.slice(8), value)
  if (status === 200)
    return {
      ...nothing,
      ...{ code: 'ok', message: '', trailers, wasCompressed, messages: [decode(codec, output, bytes)] },
    }
  return {
    ...nothing,
    ...errorIn(JSON.parse(Buffer.from(bytes).toString()) as ErrorJson),
    trailers,
    wasCompressed,
  }
}

interface ErrorJson {
  readonly code?: unknown
  readonly message?: string
  readonly details?: readonly { readonly type: string; readonly value: string }[]
}

const errorIn = ({ code, message = '', details = [] }: ErrorJson) => ({
  code: typeof code === 'string' ? code : '',
  message,
  details: details.map(({ type, value }) => ({ type, value: new Uint8Array(Buffer.from(value, 'base64')) })),
})

const split = (bytes: Uint8Array, coding: Coding) => {
  const view = new DataView(bytes.buffer)
  const messages: Uint8Array[] = []
  let wasCompressed = false
  for (let at = 0; at < bytes.length;) {
    const flags = view.getUint8(at)
    const end = at + 5 + view.getUint32(at + 1)
    const isCompressed = (flags & 1) === 1
    const content = expand[isCompressed ? coding : 'identity'](bytes.subarray(at + 5, end))
    wasCompressed ||= isCompressed
    at = end
    if ((flags & 0x82) === 0) messages.push(content)
    else return { messages, last: Buffer.from(content).toString(), wasCompressed }
  }
  throw new Error('the response has no end')
}

const connectEnd = (text: string) => {
  const { error, metadata = {} } = JSON.parse(text) as {
    error?: ErrorJson
    metadata?: Record<string, string[]>
  }
  const trailers = new Map(Object.entries(metadata).map(([name, values]) => [name, values.join(', ')]))
  return error === undefined
    ? { code: 'ok', message: '', details: [], trailers }
    : { ...errorIn(error), trailers }
}

const webEnd = (text: string) => {
  const trailers = new Map<string, string>()
  for (const line of text.split('\r\n').filter(Boolean)) {
    const [name = '', ...value] = line.split(':')
    trailers.set(name.trim().toLowerCase(), value.join(':').trim())
  }
  const number = Number(trailers.get('grpc-status'))
  const bin = trailers.get('grpc-status-details-bin')
  const packed = bin === undefined ? [] : fromBinary(StatusSchema, Buffer.from(bin, 'base64')).details
  const code = (Object.keys(CODES) as (keyof typeof CODES)[]).find((name) => CODES[name] === number) ?? ''
  return {
    code: code === 'CANCELLED' ? 'canceled' : code.toLowerCase(),
    message: decodeURIComponent(trailers.get('grpc-message') ?? ''),
    details: packed.map(({ typeUrl, value }) => ({ type: typeUrl.replace(/.*\//, ''), value })),
    trailers,
  }
}
