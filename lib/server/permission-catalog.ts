import type { DescService } from '@bufbuild/protobuf'
import { pathOf } from './chain/method.js'
import { RuleSet, rulesOf } from './authz/rules.js'
import type { Server } from './server.js'

/**
 * The permission that a method requires.
 * @internal
 */
export interface Permission {
  /** Full name of the service, `package.Service`. */
  readonly service: string
  readonly method: string
  /** Empty for a public method and for a method without a rule. */
  readonly verb: string
  /** A resource type or a template such as `zone:{zone_id}`. */
  readonly resource: string
  /** True if anyone may call the method. */
  readonly public: boolean
  /** False if the method has neither a rule nor `public`. A server with such a method does not start. */
  readonly declared: boolean
}

/**
 * Returns the permission of every method, sorted by service and method name.
 * @internal
 * @param source - services with the rules in their .proto files, or a server with all its rules and the
 *   methods that it recorded.
 */
export const permissionCatalog = (source: Server | readonly DescService[]): readonly Permission[] => {
  const isServer = 'services' in source
  const services = isServer ? [...source.services().keys()] : unique(source)
  const rules = new RuleSet(isServer ? source.rules() : services.flatMap(rulesOf))
  const served = services.flatMap(({ methods }) => methods.map(pathOf))
  const recorded = isServer ? source.recordedMethods() : []
  return [...new Set([...served, ...recorded])].map((path) => permissionOf(path, rules)).sort(byName)
}

const permissionOf = (path: string, rules: RuleSet): Permission => {
  const rule = rules.of(path)
  const [, service = '', method = ''] = path.split('/')
  return {
    service,
    method,
    verb: rule?.public === true ? '' : (rule?.verb ?? ''),
    resource: rule?.resource ?? '',
    public: rule?.public === true,
    declared: rules.declared(path) !== undefined,
  }
}

/** Compares by code unit, so that the order does not depend on the locale. */
const byName = (a: Permission, b: Permission): number =>
  compare(a.service, b.service) || compare(a.method, b.method)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const unique = (services: readonly DescService[]): readonly DescService[] => [
  ...new Map(services.map((service) => [service.typeName, service])).values(),
]
