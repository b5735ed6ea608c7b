import { type DescMessage, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import type { EntityResponse } from '../../call.js'
import { ResourceExhausted } from '../../errors.js'
import { type JsonWriteOptions, messageWriter } from '../../gateway/json/writer.js'
import { ByteWriter } from '../../resource/wire/byte-writer.js'
import { messageBytes } from '../../resource/wire/message-writer.js'
import type { WriteEntity } from '../../resource/wire/write-entity.js'

/** Builds a method's response from the entity that its repository returns. Compiled once for each method. */
export interface ReplyForm<T extends object = object> {
  readonly desc: DescMessage
  toMessage(value: T): Message
  /** Writes the bytes of `toMessage(value)`. Throws if `toBinary` throws. */
  readonly write: WriteEntity
  /** Returns the proto3 JSON of `toMessage(value)`. Throws if the message's own JSON writer throws. */
  writeJson(value: T, options: JsonWriteOptions): string
  /** The entity's property that the response returns as its etag; undefined if the response has no etag. */
  readonly etag: string | undefined
}

/**
 * A response that still holds the repository's entity. It is converted to a message only when an interceptor,
 * the log, a read mask or a JSON listener reads it.
 */
export class EntityReply implements EntityResponse {
  /** The etag in the response; empty if there is none. */
  readonly etag: string
  private made: Message | undefined = undefined
  private written: Uint8Array | undefined = undefined

  constructor(
    private readonly form: ReplyForm,
    private readonly value: object,
  ) {
    const etag = form.etag === undefined ? undefined : (value as Readonly<Record<string, unknown>>)[form.etag]
    this.etag = typeof etag === 'string' ? etag : ''
  }

  /**
   * Returns the message, always the same object. If the bytes exist, the message is decoded from them, so
   * that all readers observe the same response.
   */
  get message(): Message {
    const { form, value, written } = this
    return (this.made ??= written === undefined ? form.toMessage(value) : fromBinary(form.desc, written))
  }

  /**
   * Returns the bytes of the message.
   * @throws Error as `messageBytes` does.
   */
  bytes(maxBytes: number): Uint8Array {
    const { form, value, made } = this
    if (made !== undefined) return (this.written ??= messageBytes(form.desc, made, maxBytes))
    try {
      return (this.written ??= ByteWriter.bytesOf(form.write, value, maxBytes))
    } catch (error) {
      if (error instanceof ResourceExhausted) throw error
      return toBinary(form.desc, this.message)
    }
  }

  /**
   * Returns the proto3 JSON of the message.
   * @throws Error as the message's JSON writer does.
   */
  json(options: JsonWriteOptions): string {
    const { form, value } = this
    if (this.made === undefined && this.written === undefined)
      try {
        return form.writeJson(value, options)
      } catch (error) {
        if (error instanceof ResourceExhausted) throw error
        // The message's own writer throws an error with a better message.
      }
    return messageWriter(form.desc)(this.message, options)
  }
}

/** The response to a unary call. */
export type SingleReply = Message | EntityReply

/** Returns the reply as a message. */
export const messageOfReply = (reply: SingleReply): Message =>
  reply instanceof EntityReply ? reply.message : reply
