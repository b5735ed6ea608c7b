import type { DescMessage } from '@bufbuild/protobuf'
import { DETAIL_TYPES } from '../../error-details.js'
import type { JsonObject } from '../source/source.js'

const TYPE_URL = 'type.googleapis.com/'

/**
 * Adds the framework's error details to the schema of `google.rpc.Status`. Any other schema is returned
 * unchanged.
 */
export function withStatus(
  { typeName }: DescMessage,
  schema: JsonObject & { readonly properties: JsonObject },
  schemaOf: (detail: DescMessage) => JsonObject,
): JsonObject {
  if (typeName !== 'google.rpc.Status') return schema
  const details = DETAIL_TYPES.map((desc) => typed(desc, schemaOf(desc)))
  const other = {
    type: 'object',
    title: 'Detail',
    properties: { '@type': { type: 'string' } },
    required: ['@type'],
    additionalProperties: true,
  }
  return {
    ...schema,
    description: 'The body of every error: the gRPC code, a message, and details.',
    properties: {
      ...schema.properties,
      details: { type: 'array', items: { anyOf: [...details, other] } },
    },
  }
}

function typed({ typeName }: DescMessage, schema: JsonObject): JsonObject {
  const { properties, required } = schema as { properties: JsonObject; required?: readonly string[] }
  return {
    ...schema,
    properties: { '@type': { const: `${TYPE_URL}${typeName}` }, ...properties },
    required: ['@type', ...(required ?? [])],
  }
}
