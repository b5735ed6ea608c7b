import { problem, type Problem } from '../../errors.js'
import type { DescMethod, DescService } from '@bufbuild/protobuf'
import { httpRulesOf } from '../../resource/messages/http-paths.js'
import type { ExternalTarget } from './external-target.js'

export const proxiedMethods = (
  external: ReadonlyMap<string, ExternalTarget>,
): ReadonlyMap<DescMethod, ExternalTarget> =>
  new Map(
    [...external.values()].flatMap((target) =>
      target.proxy.flatMap((service) => routed(service).map((method) => [method, target] as const)),
    ),
  )

/**
 * Returns a problem for each proxied service that cannot be served.
 * @param own - the services of this server.
 */
export function proxyProblems(
  external: ReadonlyMap<string, ExternalTarget>,
  own: readonly DescService[],
  hasGateway: boolean,
): Problem[] {
  const served = new Map(own.map(({ typeName }) => [typeName, 'this server serves']))
  return [...external.values()].flatMap(({ type, address, proxy }) =>
    proxy.flatMap((service) => {
      const where = `proxy of the external reference target ${type} names ${service.typeName}`
      const other = served.get(service.typeName)
      served.set(service.typeName, `${type} names as well`)
      return [
        ...(address === undefined ? [problem('reference', `${where}, and has no address`, 'give one')] : []),
        ...(hasGateway
          ? []
          : [problem('reference', `${where}, and there is no gateway`, 'set httpAddr, or remove proxy')]),
        ...(other === undefined
          ? []
          : [problem('reference', `${where}, which ${other}`, 'remove one of the two')]),
        ...(routed(service).length > 0
          ? []
          : [problem('reference', `${where}, none of whose methods has google.api.http`)]),
      ]
    }),
  )
}

const routed = ({ methods }: DescService) => methods.filter((method) => httpRulesOf(method).length > 0)
