import { randomInt, randomUUID } from 'node:crypto'
import { keyPartOf } from '../../../resource/keys/key-part.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
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
  const fields = models.flatMap(({ tenant }) => tenant ?? [])
  const fits = (text: string) =>
    fields.every((field) => {
      const value = keyPartOf(field).valueOf(text)
      return value !== undefined && kindOf(field).problem(value, field) === undefined
    })
  return FORMS.find((make) => fits(make('tenant-a-'))) ?? newCanary
}
