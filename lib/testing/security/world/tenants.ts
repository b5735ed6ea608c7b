import { OptionError } from '../../../errors.js'
import type { ResourceModel } from '../../../persistence/index.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import { type NewText, newTextThat } from './made-up-keys.js'
import type { Subject } from './subjects.js'

/** The tenants of a check. */
export interface Tenants {
  readonly two: readonly [string, string]
  /** Generates another tenant. */
  readonly another: NewText
  readonly areMadeUp: boolean
}

/**
 * Returns the given tenants, or two generated ones that are valid for all resources.
 * @throws OptionError for tenants to which a resource cannot belong, and if no valid ones can be generated.
 */
export function tenantsOf(
  subjects: readonly Subject[],
  given: readonly [string, string] | undefined,
): Tenants {
  const models = subjects.flatMap(({ repository }) => repository?.model ?? [])
  const strangerTo = (text: string) => models.find((model) => !isTenantOf(model, text))
  // Generated UUIDs must be in canonical form, which every column can store.
  const isForeign = (text: string) =>
    models.some(({ tenant }) => tenant !== undefined && kindOf(tenant).isForeign?.(text) === true)
  const fits = (text: string) => strangerTo(text) === undefined && !isForeign(text)
  const make = newTextThat(fits, 'tenant-a-')
  if (given === undefined) {
    const two = [make('tenant-a-'), make('tenant-b-')] as const
    if (!two.every(fits)) throw refused(noneFits(models))
    return { two, another: make, areMadeUp: true }
  }
  const [first, second] = given
  if (first === second) throw refused(`${JSON.stringify(first)} is given twice: give two tenants`)
  for (const text of given) {
    const model = strangerTo(text)
    if (model !== undefined)
      throw refused(`${JSON.stringify(text)} is not a tenant of ${reported(model)}${meant(model, text)}`)
  }
  return { two: given, another: make, areMadeUp: false }
}

const refused = (why: string) => new OptionError('tenants', why)

const isTenantOf = ({ tenant, tenantPart }: ResourceModel, text: string): boolean =>
  tenantPart === undefined ||
  (tenantPart.valueOf(text) !== undefined && text.length <= (tenant?.maxLength ?? Infinity))

const noneFits = (models: readonly ResourceModel[]): string => {
  const all = models.filter(({ tenant }) => tenant !== undefined).map(reported)
  return `no tenant can be generated that is valid for ${[...new Set(all)].join(', ')}: pass two in \`tenants\``
}

/** Describes a resource and the type of its tenants. */
const reported = ({ entity, tenant }: ResourceModel): string => {
  const length = tenant?.maxLength === undefined ? '' : ` of at most ${tenant.maxLength} characters`
  return `${entity.name} (${tenant?.property ?? 'tenant'}: ${tenant?.kind ?? 'string'}${length})`
}

const meant = ({ tenantPart }: ResourceModel, text: string): string => {
  const other = tenantPart?.meant(text)
  return other === undefined || other === text ? '' : `: write ${JSON.stringify(other)}`
}
