import type { ResourceModel } from '../../../persistence/index.js'
import { type NewText, newTextThat } from './made-up-keys.js'

/** Makes tenants that all of the resources can belong to. */
export const newTenantOf = (models: readonly ResourceModel[]): NewText =>
  newTextThat(
    (text) =>
      models.every(
        ({ tenant, tenantPart }) =>
          tenantPart === undefined ||
          (tenantPart.valueOf(text) !== undefined && text.length <= (tenant?.maxLength ?? Infinity)),
      ),
    'tenant-a-',
  )
