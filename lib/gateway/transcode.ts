import { create, type DescField, type Message, type Registry } from '@bufbuild/protobuf'
import type { EntityResponse } from '../call.js'
import { ElementCount, type MessageLimits } from '../resource/messages/message-limits.js'
import { InvalidArgument } from '../errors.js'
import { checkResponseBytes, responseTooLarge } from '../bounds/response-bytes.js'
import type { HttpBody } from 'ashlar-annotations/google/api/httpbody_pb.js'
import type { Binding } from './routing/bindings.js'
import { checkJsonType, jsonOf } from './http/body.js'
import { holderOf } from './transcoding/field-path.js'
import { invalidAt } from './json/fault.js'
import { type JsonReadOptions, messageReader } from './json/reader.js'
import type { JsonWriteOptions } from './json/writer.js'
import { getField, setField } from '../resource/messages/local-field.js'
import { variableText } from './routing/path-template.js'
import { parseQuery } from './transcoding/query-text.js'
import { prune, type ReadMask } from './transcoding/prune-response.js'
import { textValue } from './transcoding/text-value.js'

/** The parts of an HTTP request from which a message is built. */
export interface RequestParts {
  /** The segments of the path as received. */
  readonly segments: readonly string[]
  readonly query: string
  readonly contentType: string | undefined
  /**
   * True if a page of another origin may have sent the request without a preflight. It is then rejected,
   * because the caller's identity may have been added by the browser.
   */
  readonly isFromPage?: boolean | undefined
}

/**
 * Creates the request message from body, query and path, in this order, so that the path takes precedence.
 * @throws InvalidArgument with the field, OwnStatusError for a body of the wrong type.
 */
export function toRequest(
  binding: Binding,
  { segments, query, contentType, isFromPage }: RequestParts,
  body: Buffer,
  registry: Registry,
  limits: MessageLimits,
): Message {
  const reading =
    body.length > limits.uncountedBytes ? { registry, elements: new ElementCount(limits) } : { registry }
  const message = fromBody(binding, { contentType, isFromPage }, body, reading)
  if (query !== '') binding.bindQuery(message, parseQuery(query))
  for (const variable of binding.variables) {
    const { name, field } = variable.path
    const value = textValue(field, variableText(variable, segments))
    try {
      variable.read(holderOf(variable.path, message), value, {})
    } catch (error) {
      throw invalidAt(name, error)
    }
  }
  return message
}

function fromBody(
  { method, body, readBody }: Binding,
  { contentType, isFromPage }: Pick<RequestParts, 'contentType' | 'isFromPage'>,
  bytes: Buffer,
  reading: JsonReadOptions,
): Message {
  if (isFromPage === true) checkJsonType('')
  if (body === undefined) {
    if (bytes.length > 0 && !/^\s*(?:\{\s*\}\s*)?$/.test(bytes.toString('latin1')))
      throw new InvalidArgument('', `${method.name} takes no body here`)
    return create(method.input)
  }
  const target = body === '*' ? method.input : body.message
  if (target?.typeName === HTTP_BODY && (body === '*' || body.fieldKind === 'message'))
    return withRawBody(create(method.input), body, contentType, bytes)
  if (bytes.length === 0) return create(method.input)
  checkJsonType(contentType)
  const json = jsonOf(bytes) ?? null
  const options = { ...reading, answer: method.output }
  try {
    if (readBody === undefined) return messageReader(method.input)(json, options)
    const message = create(method.input)
    readBody(message, json, options)
    return message
  } catch (error) {
    throw invalidAt(body === '*' ? '' : body.name, error)
  }
}

const HTTP_BODY = 'google.api.HttpBody'

function withRawBody(message: Message, body: '*' | DescField, contentType = '', data: Buffer): Message {
  const raw = { contentType, data: new Uint8Array(data) }
  if (body === '*') return Object.assign(message, raw)
  if (body.message !== undefined) setField(message, body, Object.assign(create(body.message), raw))
  return message
}

/** The body of a response and its content type. */
export interface Content {
  readonly contentType: string
  readonly body: string | Uint8Array
}

/**
 * Writes the response of a call as its HTTP rule specifies. A google.api.HttpBody is sent unchanged.
 * @throws ResourceExhausted for a body of more than `maxCharacters`.
 */
export function toContent(
  { method, responseBody, write, readMask }: Binding,
  request: Message,
  message: Message,
  options: JsonWriteOptions,
): Content {
  if (responseBody === undefined && method.output.typeName === HTTP_BODY)
    return within(options, rawContent(message as HttpBody))
  if (responseBody?.fieldKind === 'message' && responseBody.message.typeName === HTTP_BODY)
    return within(options, rawContent(getField(message, responseBody) as HttpBody | undefined))
  return jsonContent(readMask, request, write(message, options), options)
}

/** Writes a response that has not been converted to a message yet. */
export function withEntity(
  binding: Binding,
  request: Message,
  entity: EntityResponse,
  options: JsonWriteOptions,
): Content {
  if (binding.responseBody !== undefined) return toContent(binding, request, entity.message, options)
  return jsonContent(binding.readMask, request, entity.json(options), options)
}

function within({ maxCharacters = Infinity }: JsonWriteOptions, content: Content): Content {
  checkResponseBytes(content.body.length, maxCharacters)
  return content
}

const jsonContent = (
  readMask: ReadMask | undefined,
  request: Message,
  text: string,
  { maxCharacters = Infinity }: JsonWriteOptions,
): Content => {
  const body = readMask === undefined ? text : prune(text, readMask, readMask.paths(request))
  if (body.length > maxCharacters) throw responseTooLarge(maxCharacters)
  return { contentType: 'application/json', body }
}

const rawContent = (raw: HttpBody | undefined): Content => ({
  contentType:
    raw === undefined || !MEDIA_TYPE.test(raw.contentType) ? 'application/octet-stream' : raw.contentType,
  body: raw?.data ?? new Uint8Array(),
})

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+[\t\x20-\x7e]*$/
