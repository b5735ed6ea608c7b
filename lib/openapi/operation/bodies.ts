import type { Binding } from '../../gateway/routing/bindings.js'
import type { MessageSchemas } from '../schema/message-schemas.js'
import type { Without } from '../schema/message-schemas.js'
import { isResourceOfUpdate, type View } from '../schema/views.js'
import type { JsonObject } from '../source/source.js'

/** The schema and view of one media type. */
export interface Content {
  readonly mediaType: string
  /** Undefined for arbitrary bytes. */
  readonly schema: JsonObject | undefined
  readonly view: View
}

const JSON_TYPE = 'application/json'
const HTTP_BODY = 'google.api.HttpBody'

/** Returns the body of a request; undefined if there is none. */
export function requestContent(
  { method, body, variables }: Binding,
  schemas: MessageSchemas,
): Content | undefined {
  if (body === undefined) return undefined
  const view: View = typeof body === 'object' && isResourceOfUpdate(body) ? 'patch' : 'input'
  const message = body === '*' ? method.input : body.fieldKind === 'message' ? body.message : undefined
  if (message?.typeName === HTTP_BODY) return { mediaType: '*/*', schema: undefined, view }
  const given = typeof body === 'object' ? `${body.name}.` : ''
  const without: Without = new Set(
    variables
      .map(({ path }) => path.name)
      .filter((name) => name.startsWith(given))
      .map((name) => name.slice(given.length))
      .filter((name) => !name.includes('.')),
  )
  const isInPlace = message !== undefined && without.size > 0
  const schema = isInPlace
    ? schemas.object(message, view, without)
    : body === '*'
      ? schemas.message(method.input, view)
      : { ...schemas.field(body, view), ...(view === 'patch' && message && schemas.message(message, view)) }
  return { mediaType: JSON_TYPE, schema, view }
}

/** Returns the body of a response: one media type, or the two formats of a stream. */
export function responseContent(
  { method, responseBody, readMask }: Binding,
  schemas: MessageSchemas,
): readonly Content[] {
  const message = responseBody === undefined ? method.output : responseBody.message
  const isRaw =
    message?.typeName === HTTP_BODY && (responseBody === undefined || responseBody.fieldKind === 'message')
  const view: View = readMask !== undefined && readMask.items === undefined ? 'masked' : 'output'
  if (method.methodKind === 'server_streaming')
    return streamed(isRaw && responseBody === undefined, method.output.typeName)
  if (isRaw) return [{ mediaType: '*/*', schema: undefined, view }]
  if (responseBody === undefined)
    return [{ mediaType: JSON_TYPE, schema: schemas.message(method.output, view), view }]
  const { readOnly: _readOnly, ...schema } = schemas.field(responseBody, 'output')
  const isOptional =
    responseBody.fieldKind === 'message' ||
    responseBody.oneof !== undefined ||
    responseBody.proto.proto3Optional
  return [
    {
      mediaType: JSON_TYPE,
      schema: isOptional ? { anyOf: [schema, { type: 'null' }] } : schema,
      view: 'output',
    },
  ]
}

/**
 * Returns the content of a stream. OpenAPI 3.1 has no schema for its items, so a description states their
 * format.
 */
function streamed(isRaw: boolean, typeName: string): readonly Content[] {
  if (isRaw) return [{ mediaType: '*/*', schema: undefined, view: 'output' }]
  const line = `{"result": …}\` with a \`${typeName}\``
  return [
    {
      mediaType: 'application/x-ndjson',
      schema: {
        type: 'string',
        description: `One line per message: \`${line}. An error ends the stream: \`{"error": …}\`.`,
      },
      view: 'output',
    },
    {
      mediaType: 'text/event-stream',
      schema: {
        type: 'string',
        description: `If the client accepts it, one event per message, whose data is a \`${typeName}\`. An error ends the stream: an event named \`error\`.`,
      },
      view: 'output',
    },
  ]
}
