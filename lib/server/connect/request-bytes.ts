import type { DescMethod, Message, Registry } from '@bufbuild/protobuf'
import { ElementCount, type MessageLimits } from '../../resource/messages/message-limits.js'
import { AshlarError, InvalidArgument, Unimplemented } from '../../errors.js'
import { jsonOf } from '../../gateway/http/body.js'
import { CONTENT_CODINGS } from '../../gateway/http/content-coding.js'
import { invalidAt } from '../../gateway/json/fault.js'
import { messageReader } from '../../gateway/json/reader.js'
import { readRequest } from '../../resource/wire/read-request.js'
import type { UnauthenticatedBytes } from '../../bounds/unauthenticated-bytes.js'
import { isCompressed, onlyMessage } from '../grpc/envelope.js'
import type { WireFormat } from './wire-format.js'

/** The data needed to decode the bytes of a request. */
export interface RequestForm {
  readonly method: DescMethod
  readonly format: WireFormat
  /** The compression of messages whose envelope is marked as compressed. */
  readonly coding: string | undefined
  /** Maximum size of the message in bytes. */
  readonly limit: number
  /** Finds the types named in a google.protobuf.Any. */
  readonly registry: Registry
  readonly unauthenticated: UnauthenticatedBytes
  /** Limits on the decoded message. */
  readonly limits: MessageLimits
}

/**
 * Decodes the message in a body. JSON is parsed as strictly as in the gateway, without losing digits.
 * @param onInflated - receives the size after decompression.
 * @throws the errors of the gateway and of envelopes.
 */
export const messageOf = async (
  form: RequestForm,
  body: Buffer,
  onInflated: (bytes: number) => void = () => {},
): Promise<Message> => {
  if (!form.format.isEnveloped) return decoded(form, body)
  const only = onlyMessage(body)
  if (!isCompressed(only)) return decoded(form, Buffer.from(only.bytes))
  const bytes = await inflated(form, only.bytes)
  onInflated(bytes.length)
  return decoded(form, bytes)
}

/**
 * Returns true if the message in a body is compressed.
 * @throws the errors of envelopes.
 */
export const isToInflate = ({ format }: RequestForm, body: Buffer): boolean =>
  format.isEnveloped && isCompressed(onlyMessage(body))

const inflated = async ({ coding, limit }: RequestForm, bytes: Uint8Array): Promise<Buffer> => {
  const known = CONTENT_CODINGS.find(({ name }) => name === coding)
  // The protocols require this code.
  if (known === undefined)
    throw new AshlarError('INTERNAL', 'a message is compressed, but no header names the compression')
  return Buffer.from(bytes.length === 0 ? bytes : await known.inflate(bytes, limit))
}

const decoded = ({ method, format, registry, limits }: RequestForm, bytes: Buffer): Message => {
  if (!format.isJson) return readRequest(method.input, bytes, limits)
  const json = jsonOf(bytes)
  if (json === undefined) throw new InvalidArgument('', 'the request is empty, which is not JSON: send {}')
  try {
    return messageReader(method.input)(json, {
      ...{ registry, answer: method.output },
      ...(bytes.length > limits.uncountedBytes && { elements: new ElementCount(limits) }),
    })
  } catch (error) {
    throw invalidAt('', error)
  }
}

/** @throws Unimplemented for an unsupported compression. The message lists the supported ones. */
export const checkCoding = (coding: string | undefined, more: readonly string[] = []): void => {
  const known = [...CONTENT_CODINGS.map(({ name }) => name), ...more]
  if (coding === undefined || coding === 'identity' || known.includes(coding)) return
  throw new Unimplemented(`only requests compressed with ${known.join(', ')} are supported`)
}
