import { type DescMessage, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { type ByteWriter, bytesOf } from '../../resource/wire/byte-writer.js'

/** How the responses of a method are made of what its repository returns; compiled once per method. */
export interface ReplyForm<T> {
  readonly desc: DescMessage
  readonly toMessage: (value: T) => Message
  /** Writes the bytes of `toMessage(value)`; may throw where `toBinary` does. */
  readonly write: (value: T, out: ByteWriter) => void
  /** The etag in the response; undefined or empty for none. */
  readonly etagOf: (value: T) => unknown
}

/**
 * A response that is still what the repository has returned. It becomes a message only where somebody reads one: an
 * interceptor, the log, a read mask, a listener that sends JSON.
 */
export class EntityReply {
  readonly #form: ReplyForm<unknown>
  readonly #value: unknown
  #message: Message | undefined
  #bytes: Uint8Array | undefined

  constructor(form: ReplyForm<never>, value: unknown) {
    this.#form = form as ReplyForm<unknown>
    this.#value = value
  }

  /** Always the same one. After the bytes were made, it is read from them, so that nobody sees two different responses. */
  get message(): Message {
    return (this.#message ??=
      this.#bytes === undefined
        ? this.#form.toMessage(this.#value)
        : fromBinary(this.#form.desc, this.#bytes))
  }

  get etag(): string {
    const etag = this.#form.etagOf(this.#value)
    return typeof etag === 'string' ? etag : ''
  }

  /** The bytes of the message. @throws Error as `toBinary` does. */
  bytes(): Uint8Array {
    return (this.#bytes ??=
      this.#message === undefined ? this.#written() : toBinary(this.#form.desc, this.#message))
  }

  #written(): Uint8Array {
    try {
      return bytesOf((out) => this.#form.write(this.#value, out))
    } catch {
      return toBinary(this.#form.desc, this.message)
    }
  }
}

/** The response to a unary call. */
export type SingleReply = Message | EntityReply

/** The response as a message. */
export const messageOfReply = (reply: SingleReply): Message =>
  reply instanceof EntityReply ? reply.message : reply
