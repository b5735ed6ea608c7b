import { create, type DescField, type Message, type Registry } from '@bufbuild/protobuf'
import { InvalidArgument } from '../errors.js'
import type { HttpBody } from '../gen/google/api/httpbody_pb.js'
import type { Binding } from './routing/bindings.js'
import { checkJsonType, jsonOf } from './http/body.js'
import { holderOf } from './transcoding/field-path.js'
import { orInvalid } from './json/fault.js'
import { fieldReader, messageReader } from './json/reader.js'
import { fieldWriter, messageWriter } from './json/writer.js'
import { getField, setField } from './json/local-field.js'
import { variableText } from './routing/path-template.js'
import { bindQuery } from './transcoding/query-binding.js'
import { parseQuery } from './transcoding/query-text.js'
import { prune } from './transcoding/read-mask.js'
import { textValue } from './transcoding/text-value.js'

/** The parts of an HTTP request that fill a message. */
export interface RequestParts {
  /** Segments of the path as received. */
  readonly segments: readonly string[]
  readonly query: string
  readonly body: Buffer
  readonly contentType: string | undefined
}

/**
 * Creates the request message: body first, then query, then path, so that the path wins.
 * @throws InvalidArgument naming the field, HttpError for a body of the wrong type.
 */
export function toRequest(binding: Binding, parts: RequestParts, registry: Registry): Message {
  const message = fromBody(binding, parts, registry)
  if (parts.query !== '') bindQuery(binding.method.input, message, parseQuery(parts.query), binding.bound)
  for (const variable of binding.variables) {
    const { name, field } = variable.path
    const value = textValue(field, variableText(variable, parts.segments))
    orInvalid(name, () => fieldReader(field)(holderOf(variable.path, message), value, {}))
  }
  return message
}

function fromBody({ method, body }: Binding, parts: RequestParts, registry: Registry): Message {
  const empty = (): Message => create(method.input)
  if (body === undefined) {
    if (!/^\s*(?:\{\s*\}\s*)?$/.test(parts.body.toString('latin1')))
      throw new InvalidArgument('', `${method.name} takes no body here`)
    return empty()
  }
  const target = body === '*' ? method.input : body.message
  if (target?.typeName === HTTP_BODY && (body === '*' || body.fieldKind === 'message'))
    return withRawBody(empty(), body, parts)
  if (parts.body.length === 0) return empty()
  checkJsonType(parts.contentType)
  const json = jsonOf(parts.body) ?? null
  if (body === '*') return orInvalid('', () => messageReader(method.input)(json, { registry }))
  const message = empty()
  orInvalid(body.name, () => fieldReader(body)(message, json, { registry }))
  return message
}

const HTTP_BODY = 'google.api.HttpBody'

function withRawBody(
  message: Message,
  body: '*' | DescField,
  { body: data, contentType = '' }: RequestParts,
): Message {
  const raw = { contentType, data: new Uint8Array(data) }
  if (body === '*') return Object.assign(message, raw)
  if (body.message !== undefined) setField(message, body, Object.assign(create(body.message), raw))
  return message
}

/** The body of a response and its type. */
export interface Content {
  readonly contentType: string
  readonly body: string | Uint8Array
}

/** Writes the response of a call as the binding asks. A google.api.HttpBody is sent unchanged. */
export function toContent(
  { method, responseBody, readMask }: Binding,
  request: Message,
  message: Message,
  registry: Registry,
): Content {
  if (responseBody === undefined && method.output.typeName === HTTP_BODY)
    return rawContent(message as HttpBody)
  if (responseBody?.fieldKind === 'message' && responseBody.message.typeName === HTTP_BODY)
    return rawContent(getField(message, responseBody) as HttpBody | undefined)
  const write = responseBody === undefined ? messageWriter(method.output) : fieldWriter(responseBody)
  const text = write(message, registry)
  const body = readMask === undefined ? text : prune(text, readMask, readMask.paths(request))
  return { contentType: 'application/json', body }
}

const rawContent = (raw: HttpBody | undefined): Content => ({
  contentType:
    raw === undefined || !MEDIA_TYPE.test(raw.contentType) ? 'application/octet-stream' : raw.contentType,
  body: raw?.data ?? new Uint8Array(),
})

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+[\t\x20-\x7e]*$/
