import { onClass } from './apply.js'
import { declare } from './metadata.js'

/**
 * Puts every entity under a tenant: `account_id` becomes part of the primary key, so that taking another tenant's id
 * answers nothing about it. The tenant is the calling principal's, assigned at create and never written afterwards.
 */
export const TenantScoped = (): ClassDecorator =>
  onClass('TenantScoped', (entity) => {
    declare(entity, 'TenantScoped', { tenantScoped: true })
  })
