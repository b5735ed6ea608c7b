import { OptionError } from '../../../errors.js'
import type { ResourceModel } from '../../../persistence/index.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import { type NewText, newTextThat } from './made-up-keys.js'
import type { Subject } from './subjects.js'

/** The tenants of a check. */
export interface Tenants {
  readonly two: readonly [string, string]
  /** Makes one that is neither. */
  readonly another: NewText
  readonly areMadeUp: boolean
}

/**
 * The two tenants that are given, or two that are made up for all of the resources.
 * @throws OptionError for tenants that a resource cannot belong to, and where none can be made up.
 */
export function tenantsOf(
  subjects: readonly Subject[],
  given: readonly [string, string] | undefined,
): Tenants {
  const models = subjects.flatMap(({ repository }) => repository?.model ?? [])
  const strangerTo = (text: string) => models.find((model) => !isTenantOf(model, text))
  // A UUID that is made up has the canonical format, which every column can hold.
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

/** The resource, and what its tenants are. */
const reported = ({ entity, tenant }: ResourceModel): string => {
  const length = tenant?.maxLength === undefined ? '' : ` of at most ${tenant.maxLength} characters`
  return `${entity.name} (${tenant?.property ?? 'tenant'}: ${tenant?.kind ?? 'string'}${length})`
}

const meant = ({ tenantPart }: ResourceModel, text: string): string => {
  const other = tenantPart?.meant(text)
  return other === undefined || other === text ? '' : `: write ${JSON.stringify(other)}`
}
