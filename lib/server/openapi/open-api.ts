import type { DescMessage, DescMethod, DescService } from '@bufbuild/protobuf'
import { Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { Comments } from '../../openapi/source/comments.js'
import { openApiDocument } from '../../openapi/document.js'
import type { OpenApiInfo } from '../../openapi/source/source.js'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../persistence/query/page-size.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { RuleSet, rulesOf } from '../authz/rules.js'
import { type Config, resolveConfig, type ResolvedConfig } from '../config/config.js'
import { filterRelations } from '../expansion/related-lists.js'
import { operationRules, startsOperations } from '../operations/operations-service.js'
import { Registry } from '../methods/registry.js'
import { type MethodShape, shapesIn } from './method-shape.js'
import { loadRuleFacts } from '../validation/rule-facts.js'
import { methodFacts } from './method-facts.js'
import { securityOf } from './security-schemes.js'

/**
 * Returns the OpenAPI 3.1 document of a server as its gateway serves it at `/openapi.json`: JSON followed by
 * a newline. The same services and options always produce the same bytes.
 * @param source - a server, or services. Without a server, the document contains no implementation details,
 *   limits or security schemes.
 * @param info - takes precedence over the option `gateway.openapi`.
 * @throws TypeError for an HTTP rule that the gateway cannot serve.
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs'
 * import { openApi, type Server } from 'ashlar/server'
 *
 * export const write = async (server: Server): Promise<void> =>
 *   writeFileSync('openapi.json', await openApi(server, { title: 'Widgets', version: '1.4.0' }))
 * ```
 */
export const openApi = (
  source: DescribesItself | readonly DescService[],
  info?: OpenApiInfo,
): Promise<string> => {
  if ('openApi' in source) return source.openApi(info)
  const registry = new Registry(SERVICES_ONLY.limits)
  for (const service of source) registry.add(service, {})
  return documentOf(SERVICES_ONLY, { registry, rules: new RuleSet(source.flatMap(rulesOf)) }, info)
}

/** The services that a server has registered so far. */
export interface Registered {
  readonly registry: Registry
  readonly rules: RuleSet
}

/** An object with its own OpenAPI document, such as `Server`. @inline */
export interface DescribesItself {
  openApi(info?: OpenApiInfo): Promise<string>
}

const SERVICES_ONLY = resolveConfig({ grpcAddr: ':0' } satisfies Config)

/** Returns the document of the services registered with a server. */
export const documentOf = async (
  config: ResolvedConfig,
  { registry, rules }: Registered,
  more: OpenApiInfo = {},
): Promise<string> => {
  const { openapi } = config.gateway
  const info = { ...(typeof openapi === 'object' ? openapi : {}), ...more }
  const facts = await loadRuleFacts()
  const parts = registry.parts()
  const registered = [...parts.keys()]
  const added = registered.some(({ methods }) => methods.some(startsOperations)) && !parts.has(Operations)
  const services = added ? [...registered, Operations] : registered
  // Includes the rules of services that the server adds at startup.
  const all = new RuleSet([...rules.all(), ...(added ? operationRules : [])])
  const models = new Map<DescMessage, ResourceModel>()
  for (const { model } of registry.repositories())
    if (model.message !== undefined) models.set(model.message, model)
  const shapes = new Map(
    services.map((service) => [service, shapesIn(service, parts.get(service)?.repository)]),
  )
  const shapeOf = (desc: DescMethod): MethodShape =>
    shapes.get(desc.parent)?.(desc) ?? shapesIn(desc.parent, undefined)(desc)
  return openApiDocument({
    info,
    services,
    comments: new Comments(info.image),
    factsOf: (desc) =>
      methodFacts(
        desc,
        registry.methods().get(desc)?.handler,
        all.of(`/${desc.parent.typeName}/${desc.name}`),
        shapeOf(desc),
      ),
    modelOf: (message) => models.get(message),
    relationsOf: filterRelations(registry, all),
    isSecret: (field) => registry.isSecret(field),
    rulesOf: facts.ofField,
    messageRulesOf: facts.ofMessage,
    isOneofRequired: facts.isRequired,
    security: securityOf({ ...config, gateway: { ...config.gateway, openapi: info } }),
    verifiesTokens: config.authenticator !== undefined,
    shedsLoad: config.resilience.rateLimiter !== undefined,
    updateMask: config.gateway.updateMask,
    pageSizes: { usual: DEFAULT_PAGE_SIZE, most: MAX_PAGE_SIZE },
  })
}
