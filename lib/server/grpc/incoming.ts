import type { DescMethod, Message } from '@bufbuild/protobuf'
import {
  type Caller,
  type Incoming,
  Metadata,
  type RestOfRequest,
  type UnaryResponse,
  type WholeRequest,
} from '../../call.js'
import type { MessageLimits } from '../../resource/messages/message-limits.js'
import { AshlarError, Unimplemented } from '../../errors.js'
import { GRPC_CODINGS } from '../../gateway/http/content-coding.js'
import { messageBytes } from '../../resource/wire/message-writer.js'
import { readRequest } from '../../resource/wire/read-request.js'
import type { Arrival } from './arrival.js'
import { COMPRESSED, type Enveloped } from './envelope.js'

/** A call from the gRPC listener. Its requests are decompressed and decoded when the chain reads them. */
export class GrpcIncoming implements Incoming, RestOfRequest {
  readonly transport = 'grpc'
  readonly headers = new Metadata()
  readonly trailers = new Metadata()
  readonly caller: Caller
  readonly deadline: number | undefined
  readonly since: number
  /** Reads the request of a method that has a single one. */
  rest: RestOfRequest | undefined = undefined
  /** The response of a unary call, once it is encoded. */
  bytes: Uint8Array = NOTHING

  constructor(
    readonly method: DescMethod,
    readonly metadata: Metadata,
    readonly held: Arrival,
    readonly peer: string,
    private readonly limits: MessageLimits,
  ) {
    this.caller = held.caller
    this.deadline = held.asked.deadline
    this.since = held.at
  }

  encode(response: UnaryResponse, maxBytes: number): void {
    this.bytes =
      '$typeName' in response
        ? messageBytes(this.method.output, response, maxBytes)
        : response.bytes(maxBytes)
  }

  /** Returns false for every field, because nothing has been decoded yet. */
  knows(): boolean {
    return false
  }

  read(): WholeRequest | Promise<WholeRequest> {
    const { whole } = this.held
    return whole === undefined ? this.#readLater() : wholeRequest(this.method, whole, this.limits)
  }

  /** Yields the messages of a client's stream. Each is read on demand. */
  async *requests(): AsyncIterable<Message> {
    for (;;) {
      const next = this.held.taken() ?? (await this.held.later())
      if (next === undefined) return
      const plain = this.#plain(next)
      const bytes = plain instanceof Promise ? await plain : plain
      this.held.keep(bytes.length)
      yield wholeRequest(this.method, bytes, this.limits).request
      this.held.keep(0)
    }
  }

  async #readLater(): Promise<WholeRequest> {
    const plain = await this.#plain(await this.held.one())
    this.held.keep(plain.length)
    return wholeRequest(this.method, plain, this.limits)
  }

  #plain({ flags, bytes }: Enveloped): Uint8Array | Promise<Uint8Array> {
    if (flags === 0) return bytes
    // The error codes are those that gRPC requires.
    if (flags !== COMPRESSED)
      throw new AshlarError('INTERNAL', 'a message has flags that gRPC does not define')
    const { asked, maxMessageBytes } = this.held
    const { coding } = asked
    if (coding === undefined || coding === 'identity')
      throw new AshlarError('INTERNAL', 'a message is compressed, but no header names the compression')
    const inflate = GRPC_CODINGS.get(coding)
    if (inflate !== undefined) return bytes.length === 0 ? bytes : inflate(bytes, maxMessageBytes)
    const known = [...GRPC_CODINGS.keys()].join(', ')
    throw new Unimplemented(`only requests compressed with ${known} are supported`)
  }
}

const wholeRequest = ({ input }: DescMethod, bytes: Uint8Array, limits: MessageLimits): WholeRequest => ({
  request: readRequest(input, bytes, limits),
  ignoredMask: NO_PATHS,
})

const NOTHING = new Uint8Array()
const NO_PATHS: readonly string[] = []

/** Returns true if the client sends a single message rather than a stream. */
export const hasOneRequest = ({ methodKind }: DescMethod): boolean =>
  methodKind === 'unary' || methodKind === 'server_streaming'
