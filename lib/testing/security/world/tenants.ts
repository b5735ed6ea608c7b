import { randomInt, randomUUID } from 'node:crypto'
import type { ResourceModel } from '../../../persistence/index.js'
import { newCanary } from '../leaks/canary.js'

/** A name, where a tenant is any text. */
export type NewTenant = (kind: string) => string

const FORMS: readonly NewTenant[] = [
  (kind) => newCanary(kind),
  (kind) => newCanary(kind.slice(-2)).slice(0, 10),
  () => randomUUID(),
  () => String(randomInt(2 ** 30, 2 ** 31 - 1)),
  () => String(randomInt(2 ** 14, 2 ** 15 - 1)),
]

/** Makes tenants that all of the resources can belong to. */
export function newTenantOf(models: readonly ResourceModel[]): NewTenant {
  const fits = (text: string) =>
    models.every(
      ({ tenant, tenantPart }) =>
        tenantPart === undefined ||
        (tenantPart.valueOf(text) !== undefined && text.length <= (tenant?.maxLength ?? Infinity)),
    )
  return FORMS.find((make) => fits(make('tenant-a-'))) ?? newCanary
}
