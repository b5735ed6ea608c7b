import type { AuthorizedServer } from './authz/authorizer.js'
import { pathOf } from './chain/method.js'
import type { ResolvedConfig } from './config/config.js'
import type { Registrations } from './registrations.js'
import { ReferenceDecisions } from './row-access/reference-decisions.js'
import { sharedWrites } from './row-access/tenantless-writes.js'
import { relatedPermissions } from './row-access/related-permissions.js'

export const authorizedServer = (
  { registry, recorded, rules }: Registrations,
  { logger, authorizer }: ResolvedConfig,
): AuthorizedServer => {
  const references = new ReferenceDecisions(registry, rules, authorizer)
  return {
    logger,
    get sharedWrites() {
      return sharedWrites(registry.parts(), (path) => rules.declared(path))
    },
    get permissions() {
      const served = new Set([
        ...registry.services().flatMap(({ methods }) => methods.map(pathOf)),
        ...recorded,
      ])
      // If the authorizer filters the rows of a method, it also decides about `get` on the method's resource.
      const byRow = new Set(
        [...registry.methods()]
          .filter(([, { handler }]) => authorizer.decidesByRow === true && handler.rowAccess !== 'none')
          .map(([desc]) => pathOf(desc)),
      )
      const required = rules
        .all()
        .filter(({ method, public: isPublic }) => isPublic !== true && served.has(method))
        .flatMap(({ method, verb = '', resource = '' }) => [
          { verb, resource },
          ...(byRow.has(method) ? [{ verb: 'get', resource }] : []),
        ])
      return [...required, ...relatedPermissions(registry), ...references.permissions()]
    },
  }
}
