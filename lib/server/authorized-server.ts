import type { AuthorizedServer } from './authz/authorizer.js'
import { pathOf } from './chain/method.js'
import type { Logger } from './observability/logger.js'
import type { Registrations } from './registrations.js'

/** A server as its authorizer sees it, with the rules of the moment. */
export const authorizedServer = (
  { registry, recorded, rules }: Registrations,
  logger: Logger,
): AuthorizedServer => ({
  logger,
  get permissions() {
    const served = new Set([
      ...registry.services().flatMap(({ methods }) => methods.map(pathOf)),
      ...recorded,
    ])
    return rules
      .all()
      .filter(({ method, public: isPublic }) => isPublic !== true && served.has(method))
      .map(({ verb = '', resource = '' }) => ({ verb, resource }))
  },
})
