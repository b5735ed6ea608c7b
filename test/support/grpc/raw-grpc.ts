import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { EchoRequestSchema } from '../gen/specimens_pb.js'

/** The result of a call that was sent as plain HTTP/2. */
export interface RawOutcome {
  readonly httpStatus: number | undefined
  readonly code: number | undefined
  readonly text: string
  readonly requestId: string | undefined
}

/** Returns an EchoRequest in a gRPC frame. */
export function frameOf(request: MessageInitShape<typeof EchoRequestSchema>): Buffer {
  const message = toBinary(EchoRequestSchema, create(EchoRequestSchema, request))
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** A plain HTTP/2 client that can send requests that no gRPC client would send. */
export class RawGrpc {
  readonly session: ClientHttp2Session

  constructor(address: string) {
    this.session = connectHttp2(`http://${address}`)
    this.session.on('error', () => {})
  }

  open(
    method: string,
    headers: Readonly<Record<string, string>> = {},
  ): { readonly stream: ClientHttp2Stream; readonly outcome: Promise<RawOutcome> } {
    const stream = this.session.request({
      ':method': 'POST',
      ':path': `/specimens.v1.EchoService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    let seen: Record<string, unknown> = {}
    const note = (more: object) => void (seen = { ...seen, ...more })
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('data', () => {})
    stream.on('error', () => {})
    const outcome = new Promise<RawOutcome>((resolve) => {
      const done = () =>
        resolve({
          httpStatus: seen[':status'] as number | undefined,
          code: seen['grpc-status'] === undefined ? undefined : Number(seen['grpc-status']),
          text: decodeURIComponent(String(seen['grpc-message'] ?? '')),
          requestId: seen['x-request-id'] as string | undefined,
        })
      stream.once('end', done)
      stream.once('close', done)
    })
    return { stream, outcome }
  }

  /** Sends one request and half-closes the stream after the body. */
  call(method: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<RawOutcome> {
    const { stream, outcome } = this.open(method, headers)
    stream.end(body)
    return outcome
  }

  close(): void {
    this.session.destroy()
  }
}

const [DATA, HEADERS, RST_STREAM, SETTINGS] = [0, 1, 3, 4] as const
const END_HEADERS = 4

/**
 * Sends single HTTP/2 frames, for cases that no HTTP/2 library sends, such as a reset of a stream that is not
 * half-closed.
 */
export class Http2Frames {
  readonly #socket: Socket

  constructor(address: string) {
    const [host = '', port = ''] = address.split(':')
    this.#socket = connect({ host, port: Number(port) })
    this.#socket.on('error', () => {})
    this.#socket.resume()
    this.#socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    this.#send(SETTINGS, 0, 0, Buffer.alloc(0))
  }

  headers(method: string, headers: Readonly<Record<string, string>>): void {
    const all = {
      ':method': 'POST',
      ':scheme': 'http',
      ':authority': 'localhost',
      ':path': `/specimens.v1.EchoService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    }
    const literals = Object.entries(all).flatMap(([name, value]) => [
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ])
    this.#send(HEADERS, END_HEADERS, 1, Buffer.concat(literals))
  }

  data(bytes: Buffer): void {
    this.#send(DATA, 0, 1, bytes)
  }

  reset(code: number): void {
    const payload = Buffer.alloc(4)
    payload.writeUInt32BE(code)
    this.#send(RST_STREAM, 0, 1, payload)
  }

  close(): void {
    this.#socket.destroy()
  }

  #send(type: number, flags: number, stream: number, payload: Buffer): void {
    const head = Buffer.alloc(9)
    head.writeUIntBE(payload.length, 0, 3)
    head.writeUInt8(type, 3)
    head.writeUInt8(flags, 4)
    head.writeUInt32BE(stream, 5)
    this.#socket.write(Buffer.concat([head, payload]))
  }
}
