import {
  Aborted,
  AshlarError,
  ErrNotFound,
  ErrPreconditionFailed,
  httpHeadersOf,
  Internal,
  InvalidArgument,
  PermissionDenied,
  ResourceExhausted,
  Unauthenticated,
} from '../../errors.js'
import { errorBody } from '../../gateway/http/error-body.js'
import { OwnStatusError } from '../../gateway/http/own-status-error.js'
import type { Binding } from '../../gateway/routing/bindings.js'
import type { Examples } from '../schema/examples.js'
import type { MessageSchemas } from '../schema/message-schemas.js'
import type { JsonObject, MethodFacts, OpenApiSource } from '../source/source.js'
import { type Content, responseContent } from './bodies.js'

/** The documented errors by status. The gateway generates their example bodies. */
const ERRORS: Readonly<Record<string, { readonly description: string; readonly error: AshlarError }>> = {
  '400': {
    description: 'The request is invalid, or the current state does not allow it.',
    error: new InvalidArgument('page_size', 'expected a 32-bit integer'),
  },
  '401': { description: 'The token is missing or invalid.', error: new Unauthenticated() },
  '403': { description: 'The caller is not authorized.', error: new PermissionDenied() },
  '404': { description: 'The resource does not exist.', error: new ErrNotFound() },
  '409': {
    description: 'A unique value already exists, or concurrent changes blocked the call.',
    error: new Aborted(),
  },
  '412': { description: 'The entity tag is not current.', error: ErrPreconditionFailed.etag() },
  '413': {
    description: 'The body is too large.',
    error: new OwnStatusError(413, 'RESOURCE_EXHAUSTED', 'the body is larger than 1048576 bytes'),
  },
  '415': {
    description: 'The body is not UTF-8 JSON, or is not compressed with gzip, deflate or Brotli.',
    error: new OwnStatusError(415, 'INVALID_ARGUMENT', 'the Content-Type must be application/json in UTF-8'),
  },
  '429': { description: 'Too many calls.', error: new ResourceExhausted('too many calls', 1000) },
  default: { description: 'Any other error, such as 499, 500, 501, 503 and 504.', error: new Internal() },
}

const KEYED = new Set(['get', 'update', 'delete', 'undelete', 'batchGet', 'batchUpdate', 'batchDelete'])

/** Returns true if a request can name a missing resource. A list below a missing parent is empty instead. */
const namesResource = ({ variables }: Binding, { standard }: MethodFacts): boolean =>
  standard === undefined ? variables.length > 0 : KEYED.has(standard)

/**
 * Returns the statuses of an operation: success, the errors that the method can return, and `default` for all
 * others.
 */
export function responsesOf(
  binding: Binding,
  facts: MethodFacts,
  schemas: MessageSchemas,
  examples: Examples,
  source: OpenApiSource,
): JsonObject {
  const { httpMethod, method } = binding
  const isUnary = method.methodKind === 'unary'
  const contents = responseContent(binding, schemas)
  const hasTag = isUnary && facts.returnsEtag
  const success = {
    description: isUnary ? 'Success.' : 'The stream. After it has started, an error is its last part.',
    headers: {
      'X-Request-Id': header('XRequestId'),
      ...(hasTag && { ETag: header('ETag') }),
      ...(isUnary && facts.isRepeatable && { 'X-Idempotent-Replay': header('XIdempotentReplay') }),
      ...(binding.mask !== undefined &&
        source.updateMask === 'spec' && { 'X-Ignored-Update-Mask': header('XIgnoredUpdateMask') }),
    },
    content: contentOf(contents, examples),
  }
  const hasBody = binding.body !== undefined
  const errors = [
    '400',
    ...(source.verifiesTokens ? ['401'] : []),
    ...(facts.isPublic ? [] : ['403']),
    ...(namesResource(binding, facts) ? ['404'] : []),
    ...(httpMethod === 'GET' ? [] : ['409']),
    ...(facts.comparesEtags ? ['412'] : []),
    ...(hasBody ? ['413', '415'] : []),
    ...(source.shedsLoad ? ['429'] : []),
    'default',
  ]
  return {
    '200': success,
    ...(hasTag && httpMethod === 'GET' && { '304': { $ref: '#/components/responses/NotModified' } }),
    ...Object.fromEntries(
      errors.map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
    ),
  }
}

export const contentOf = (contents: readonly Content[], examples: Examples): JsonObject =>
  Object.fromEntries(
    contents.map(({ mediaType, schema, view }) => {
      const isJson = mediaType === 'application/json'
      const example = schema === undefined || !isJson ? undefined : examples.of(schema, view)
      return [mediaType, { ...(schema && { schema }), ...(example !== undefined && { example }) }]
    }),
  )

const nameOf = (status: string): string => (status === 'default' ? 'Error' : `Error${status}`)

const header = (name: string): JsonObject => ({ $ref: `#/components/headers/${name}` })

/**
 * Returns the shared responses to which operations refer.
 * @param status - the schema of error bodies.
 */
export const sharedResponses = (status: JsonObject): Readonly<Record<string, JsonObject>> => ({
  ...Object.fromEntries(
    Object.entries(ERRORS).map(([code, { description, error }]) => {
      const names = Object.keys(httpHeadersOf(error))
      const headers = {
        'X-Request-Id': header('XRequestId'),
        ...(names.includes('www-authenticate') && { 'WWW-Authenticate': header('WWWAuthenticate') }),
        ...(names.includes('retry-after') && { 'Retry-After': header('RetryAfter') }),
      }
      const example: unknown = JSON.parse(errorBody(error))
      return [
        nameOf(code),
        { description, headers, content: { 'application/json': { schema: status, example } } },
      ]
    }),
  ),
  NotModified: {
    description: "The client's version is current.",
    headers: { 'X-Request-Id': header('XRequestId'), ETag: header('ETag') },
  },
})

/** The headers that responses refer to. */
export const RESPONSE_HEADERS: Readonly<Record<string, JsonObject>> = {
  ETag: { description: 'The entity tag of the resource.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds until a retry.', schema: { type: 'string' } },
  WWWAuthenticate: { description: 'How to authenticate.', schema: { type: 'string' } },
  XIdempotentReplay: {
    description: '`true` if the response is that of an earlier request with the same idempotency key.',
    schema: { type: 'string' },
  },
  XIgnoredUpdateMask: {
    description: 'Parts of the update mask that were ignored, and the expected paths.',
    schema: { type: 'string' },
  },
  XRequestId: { description: 'Identifies the request in the log.', schema: { type: 'string' } },
}
