import { getMetadataArgsStorage } from 'typeorm'
import { onClass, onProperty } from './apply.js'
import { declaredReference, type OfClasses } from './relations/reference-columns.js'
import { ColumnNames, hiddenProperty, strategyOf } from './columns/column-naming.js'
import { declare, declareProperty, inheritedFacts, lineage } from './entity-facts.js'

/** Options of `@TenantScoped()`. */
export interface TenantScopedOptions {
  /**
   * The property that holds the tenant: one with a column, or a `@ManyToOne()` to the resource of the
   * tenants. Default: the property with `@TenantColumn()`, or `accountId`.
   */
  readonly column?: string
}

/**
 * Puts every entity under a tenant. The tenant's column becomes part of the primary key, so that creating
 * another tenant's id reveals nothing about it. The tenant is that of the calling principal. It is set at
 * create and never changes. The column is `account_id`, unless the option `column` or `@TenantColumn()` names
 * another one.
 * @example
 * ```ts
 * import { Resource, TenantScoped } from 'ashlar'
 * import { Column, Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('invoices')
 * @TenantScoped({ column: 'orgId' })
 * class Invoice {
 *   @PrimaryColumn() id!: string
 *   @Column('uuid') orgId!: string
 * }
 * ```
 */
export const TenantScoped = (options: TenantScopedOptions = {}): ClassDecorator =>
  onClass('TenantScoped', [options], (entity) => {
    const { column } = Object(options) as TenantScopedOptions
    declare(entity, 'TenantScoped', {
      tenantScoped: true,
      ...(column !== undefined && { tenantColumn: column }),
    })
  })

/**
 * The property holds the tenant of the entity: a string, a uuid or an integer with a column, or a
 * `@ManyToOne()` to the resource of the tenants. With `@TenantScoped()` it becomes part of the primary key.
 * Without it, the key alone is the primary key, as in many tables that exist.
 */
export const TenantColumn: () => PropertyDecorator = (...given: readonly unknown[]) =>
  onProperty('TenantColumn', given, (prototype, property) => {
    declareProperty(prototype, property, { role: 'tenant' })
  })

/** The declaration of an entity's tenant column. */
export interface TenantDeclaration {
  /** The properties that its decorators name; none where the tenant is in `accountId`. */
  readonly named: readonly string[]
  /** The property that has the column, or would have it. */
  readonly property: string
  /** The name of that column. */
  readonly column: string
  /** True if the named property is a relation, which refers to the tenant by that column. */
  readonly isRelation: boolean
}

/** The property of the tenant where nothing names one, and its column, unless a strategy names it. */
const ACCOUNT = { propertyName: 'accountId', column: 'account_id' }

/**
 * Which property of an entity holds its tenant, whether or not the entity has any.
 * @param strategy - that names its columns.
 */
export function tenantDeclared(
  entity: object,
  strategy = strategyOf(inheritedFacts(entity).resource?.naming),
): TenantDeclaration {
  const { tenantColumn, properties } = inheritedFacts(entity)
  const names = new ColumnNames(strategy)
  const marked = [...properties].flatMap(([property, { role }]) => (role === 'tenant' ? [property] : []))
  const named = [...new Set([...(tenantColumn === undefined ? [] : [tenantColumn]), ...marked])]
  const [property = ACCOUNT.propertyName] = named
  const classes = new Set<unknown>(lineage(entity))
  const { columns, relations, joinColumns } = getMetadataArgsStorage()
  const own = columns.filter(({ target }) => classes.has(target))
  const isOwn = (one: { readonly target: unknown; readonly propertyName: string }) =>
    classes.has(one.target) && one.propertyName === property
  const relation = relations.find(isOwn)
  if (relation === undefined) {
    const held = own.find(({ propertyName }) => propertyName === property)
    const unheld = strategy === undefined ? ACCOUNT.column : names.of({ ...ACCOUNT, options: {} })
    const column = held === undefined ? unheld : names.of(held)
    return { named, property, column, isRelation: false }
  }
  const reference = declaredReference(relation, joinColumns.find(isOwn), {
    ...OF_CLASSES,
    tenantOf: () => TENANTS,
  })
  const column = names.ofReference(reference, own) ?? hiddenProperty(property)
  const held = own.find((one) => names.of(one) === column)
  return { named, property: held?.propertyName ?? hiddenProperty(property), column, isRelation: true }
}

/** The table of tenants has no tenant. */
const TENANTS = { property: '' }

/** The facts that the columns of references depend on. */
export const OF_CLASSES: OfClasses = {
  lineage,
  tenantOf: tenantDeclared,
  typeOf: (entity, property) => inheritedFacts(entity).properties.get(property)?.type,
}
