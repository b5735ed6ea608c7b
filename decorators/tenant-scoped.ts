import { onClass } from './apply.js'
import { declare } from './entity-facts.js'

/**
 * Puts every entity under a tenant. `account_id` becomes part of the primary key, so that creating another
 * tenant's id reveals nothing about it. The tenant is that of the calling principal. It is set at create and
 * never changes.
 */
export const TenantScoped: () => ClassDecorator = (...given: readonly unknown[]) =>
  onClass('TenantScoped', given, (entity) => {
    declare(entity, 'TenantScoped', { tenantScoped: true })
  })
