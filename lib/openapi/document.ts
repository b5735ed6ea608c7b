import type { DescService } from '@bufbuild/protobuf'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { type Binding, servedBindings } from '../gateway/routing/bindings.js'
import { operationOf } from './operation/operation.js'
import { HEADER_PARAMETERS } from './operation/parameters.js'
import { pathsOf } from './operation/path-text.js'
import { RESPONSE_HEADERS, sharedResponses } from './operation/responses.js'
import { Examples } from './schema/examples.js'
import { MessageSchemas } from './schema/message-schemas.js'
import { UniqueNames } from './schema/unique-names.js'
import type { JsonObject, OpenApiInfo, OpenApiSource } from './source/source.js'

/**
 * Returns the OpenAPI 3.1 document of every method with HTTP rules, as JSON followed by a newline. The same
 * source always produces the same bytes, and none of them begins an HTML tag.
 * @throws TypeError for an invalid rule.
 */
export const openApiDocument = (source: OpenApiSource): string =>
  `${JSON.stringify(documentOf(source), null, 2).replaceAll('<', '\\u003c')}\n`

interface Ruled {
  readonly binding: Binding
  readonly suffix: string
}

function documentOf(source: OpenApiSource): JsonObject {
  const services = [...source.services].sort((a, b) => compare(a.typeName, b.typeName))
  const ruled = services.flatMap(ruledOf)
  const served = services.filter(({ typeName }) =>
    ruled.some(({ binding }) => binding.method.parent.typeName === typeName),
  )
  const schemas = new MessageSchemas(source)
  const describing = { source, schemas, examples: new Examples(schemas) }
  const paths = pathsOf(ruled.map(({ binding }) => binding))
  const items = new Map<string, Record<string, unknown>>()
  const ids = new UniqueNames(ruled.map(({ binding }) => idOf(binding)))
  for (const { binding, suffix } of ruled) {
    const path = paths.get(binding)
    if (path === undefined) continue
    const item = items.get(path.text) ?? {}
    items.set(path.text, item)
    for (const [verb, more] of verbsOf(binding))
      put(item, verb, operationOf(binding, path, ids.of(idOf(binding) + suffix + more), describing))
  }
  const status = schemas.message(StatusSchema, 'output')
  const { schemes, requirements } = source.security
  const components = {
    schemas: schemas.all(),
    responses: sharedResponses(status),
    parameters: HEADER_PARAMETERS,
    headers: RESPONSE_HEADERS,
  }
  const document = {
    paths: Object.fromEntries([...items].sort(([a], [b]) => compare(a, b))),
    security: requirements.map((names) => Object.fromEntries(names.map((name) => [name, []]))),
  }
  return {
    openapi: '3.1.0',
    info: infoOf(source.info, served),
    servers: source.info.servers ?? [{ url: '/' }],
    ...(requirements.length > 0 && { security: document.security }),
    tags: served.map((service) => ({
      name: service.typeName,
      description: source.comments.of(service) || `The methods of \`${service.typeName}\`.`,
    })),
    paths: document.paths,
    components: {
      ...used(components, document.paths),
      ...(Object.keys(schemes).length > 0 && { securitySchemes: schemes }),
    },
  }
}

const idOf = ({ method }: Binding): string => `${method.parent.typeName}.${method.name}`

/** Returns every rule of a service in the order of its methods. Additional bindings have a suffix. */
const ruledOf = ({ methods }: DescService): readonly Ruled[] =>
  methods.flatMap((method) =>
    servedBindings(method).map(([binding, index]) => ({
      binding,
      suffix: index === 0 ? '' : `_${index}`,
    })),
  )

const VERBS = new Set(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'])
/** The methods under which a rule for every HTTP method is listed. */
const ANY = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH']

/** Returns the HTTP methods under which a binding is listed, each with the suffix of its operation id. */
function verbsOf({ httpMethod }: Binding): readonly (readonly [string, string])[] {
  return httpMethod === '*' ? ANY.map((verb) => [verb, `_${verb.toLowerCase()}`]) : [[httpMethod, '']]
}

/** Adds an operation to a path. A method that OpenAPI 3.1 does not support is listed under an extension. */
function put(item: Record<string, unknown>, verb: string, operation: JsonObject): void {
  const name = verb.toLowerCase()
  if (VERBS.has(verb)) item[name] ??= operation
  else
    item['x-additional-operations'] = {
      ...(item['x-additional-operations'] as JsonObject | undefined),
      [verb]: operation,
    }
}

const NOTES =
  'Uses the proto3 JSON form: 64-bit integers are strings, bytes are base64, and an absent field has its zero value. Requests may use the names shown here or the names in the .proto, and unknown names are rejected. A path with GET also has HEAD.'

function infoOf(
  { title, version, description, license }: OpenApiInfo,
  services: readonly DescService[],
): JsonObject {
  const packages = [...new Set(services.map(({ file }) => file.proto.package))].filter((name) => name !== '')
  const last = packages[0]?.split('.').at(-1) ?? ''
  return {
    title: title ?? (packages.join(', ') || 'API'),
    version: version ?? (/^v\d/.test(last) ? last : 'v1'),
    description: description === undefined ? NOTES : `${description}\n\n${NOTES}`,
    ...(license && { license }),
  }
}

/** Returns the components to which something refers. */
function used(components: Readonly<Record<string, JsonObject>>, paths: JsonObject): JsonObject {
  const found = new Set<string>()
  const search = (part: unknown): void => {
    for (const [, kind = '', name = ''] of JSON.stringify(part).matchAll(
      /"\$ref":"#\/components\/(\w+)\/([^"]+)"/g,
    )) {
      const key = `${kind}/${name}`
      if (found.has(key)) continue
      found.add(key)
      search(components[kind]?.[name])
    }
  }
  search(paths)
  return Object.fromEntries(
    Object.entries(components).flatMap(([kind, all]) => {
      const kept = Object.entries(all).filter(([name]) => found.has(`${kind}/${name}`))
      return kept.length === 0 ? [] : [[kind, Object.fromEntries(kept)]]
    }),
  )
}

/** Compares by code unit, so that the order does not depend on the locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
