import { problem, type Problem, propertyProblem } from '../errors.js'
import type { DescMessage } from '@bufbuild/protobuf'
import type { EntityFacts } from '../../decorators/entity-facts.js'
import { isWithoutTenants, type TenantDeclaration } from '../../decorators/tenant-scoped.js'
import { didYouMean } from '../text/nearest-names.js'
import type { Field } from './fields/field.js'
import { kindOf } from './kinds/kinds.js'
import { date } from './kinds/timestamp.js'
import { namedLikeTenants } from './typeorm/tenant-names.js'

const SCOPED = 'write @TenantScoped() below @Resource()'
const SHARED = '@Resource({ shared: true })'

/**
 * Returns the problems of an entity's ownership. Every resource must declare that its entities belong to
 * tenants or that all tenants share them, so that none is shared by mistake.
 */
export function ownershipProblems(
  entity: { readonly name: string },
  { resource, tenantScoped }: EntityFacts,
  { named, property }: TenantDeclaration,
  fields: readonly Field[],
  message: DescMessage | undefined,
): Problem[] {
  if (isWithoutTenants(entity.name)) return tenantProblems(entity, resource?.shared, tenantScoped, named)
  const isShared = resource?.shared === true
  const tenant = fields.find(
    (field) =>
      field.role === 'tenant' ||
      (isShared && (field.property === 'accountId' || field.column === 'account_id')),
  )
  if (isShared && tenantScoped === true)
    return [problem('tenancy', '@TenantScoped() and shared: true contradict each other', 'keep one of them')]
  if (isShared && tenant !== undefined)
    return [
      problem(
        'tenancy',
        `shared: true and the column ${tenant.property} contradict each other`,
        `remove the column, or ${SCOPED}`,
      ),
    ]
  if (named.length > 1)
    return [
      problem(
        'tenancy',
        `its tenant is declared in ${named.join(' and in ')}`,
        'keep one @TenantColumn(), or the column of @TenantScoped()',
      ),
    ]
  if (tenant === undefined && named.length > 0)
    return [
      propertyProblem(
        'tenancy',
        property,
        `the tenant is declared in ${property}, but no property ${property} has a column${didYouMean(
          property,
          fields.map((field) => field.property),
        )}`,
        `add @Column() ${property}!: string, a uuid or an integer, or name another property`,
      ),
    ]
  const isInMessage = message?.fields.some(({ localName }) => localName === 'accountId') === true
  if (isShared)
    return isInMessage
      ? [
          problem(
            'tenancy',
            `${message.typeName} has a field account_id, but a shared resource has no tenant`,
            `remove the field, or ${SCOPED} instead of shared: true`,
          ),
        ]
      : []
  if (tenant === undefined)
    return [
      problem(
        'tenancy',
        'it does not declare to whom its entities belong',
        `${SCOPED} if each belongs to a tenant${isInMessage ? `, as account_id in ${message.typeName} suggests` : ''}, or ${SHARED} if all tenants share them; an application without tenants calls withoutTenants() once`,
      ),
    ]
  return [
    ...(kindOf(tenant).key === undefined || tenant.kind === date.name
      ? [
          propertyProblem(
            'tenancy',
            tenant.property,
            `${tenant.property} is ${tenant.kind}, but must hold a principal's tenant`,
            'make it a string, a uuid or an integer',
          ),
        ]
      : []),
    ...(tenant.nullable
      ? [
          propertyProblem(
            'tenancy',
            tenant.property,
            `${tenant.property} must not be nullable: no call can reach a row without a tenant`,
          ),
        ]
      : []),
  ]
}

/** Returns the declarations that contradict `withoutTenants()`. */
function tenantProblems(
  entity: object,
  shared: boolean | undefined,
  tenantScoped: boolean | undefined,
  named: readonly string[],
): Problem[] {
  const contradiction = (what: string) =>
    problem('tenancy', `${what} and withoutTenants() contradict each other`, 'remove one of them')
  if (tenantScoped === true) return [contradiction('@TenantScoped()')]
  if (named.length > 0) return [contradiction('@TenantColumn()')]
  if (shared === false) return [contradiction('shared: false')]
  if (shared === true) return []
  return namedLikeTenants(entity).map((property) =>
    propertyProblem(
      'tenancy',
      property,
      `${property} is named like a tenant, but withoutTenants() declares that there are none`,
      `write ${SHARED} if it is not a tenant; otherwise remove withoutTenants() and write @TenantScoped({ column: '${property}' }) below @Resource()`,
    ),
  )
}
