import type { Binding } from '../../gateway/routing/bindings.js'
import type { MessageSchemas } from '../schema/message-schemas.js'
import type { JsonObject, MethodFacts, OpenApiSource } from '../source/source.js'
import { described } from '../source/markdown.js'
import type { OpenApiPath, PathParameter } from './path-text.js'
import { queryParameters } from './query-parameters.js'

/** Returns the parameters of a binding: path, query and headers. */
export function parametersOf(
  binding: Binding,
  path: OpenApiPath,
  facts: MethodFacts,
  schemas: MessageSchemas,
  source: OpenApiSource,
): readonly JsonObject[] {
  return [
    ...path.parameters.map((parameter) => pathParameter(parameter, binding, path, schemas)),
    ...queryParameters(binding, facts, schemas, source),
    ...headersOf(binding, facts, source).map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
}

function pathParameter(
  { name, variable, isWhole, isRest }: PathParameter,
  { template }: Binding,
  { parameters }: OpenApiPath,
  schemas: MessageSchemas,
): JsonObject {
  const common = { name, in: 'path', required: true }
  const rest = isRest ? 'May contain further segments: a slash in it is sent unescaped.' : undefined
  if (variable === undefined) return { ...common, ...described(rest), schema: { type: 'string' } }
  if (isWhole) {
    const field = schemas.field(variable.path.field, 'input') as { description?: string; readOnly?: boolean }
    const { description, readOnly: _readOnly, ...schema } = field
    return { ...common, ...described(description, rest), schema }
  }
  const names = parameters.filter((one) => one.variable === variable).map((one) => one.name)
  const whole = template.segments
    .slice(variable.from, variable.to)
    .map((segment) => (segment.kind === 'literal' ? segment.text : `{${names.shift() ?? ''}}`))
    .join('/')
  return {
    ...common,
    ...described(`A part of \`${variable.field}\`, which is \`${whole}\`.`, rest),
    schema: { type: 'string' },
  }
}

function headersOf(
  { method, httpMethod, mask }: Binding,
  facts: MethodFacts,
  { updateMask }: OpenApiSource,
): readonly string[] {
  const isUnary = method.methodKind === 'unary'
  return [
    ...(isUnary && facts.comparesEtags ? ['IfMatch'] : []),
    ...(isUnary && httpMethod === 'GET' && facts.returnsEtag ? ['IfNoneMatch'] : []),
    ...(isUnary && facts.isRepeatable ? ['IdempotencyKey'] : []),
    ...(mask !== undefined && updateMask !== 'strict' ? ['Prefer'] : []),
    'RequestId',
  ]
}

/** The header parameters that operations refer to. */
export const HEADER_PARAMETERS: Readonly<Record<string, JsonObject>> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes it safe to repeat the request: a second request with the same key gets the response of the first.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Entity tags, one of which must be current, or `*`; otherwise the response is 412.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'Entity tags that the client has: if one of them is current, the response is 304.',
    schema: { type: 'string' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: '`handling=strict` rejects an update mask in another form.',
    schema: { type: 'string' },
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Identifies the request in the log; the response repeats it. Without it the server generates one.',
    schema: { type: 'string' },
  },
}
