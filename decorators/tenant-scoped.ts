import { getMetadataArgsStorage } from 'typeorm'
import { onClass, onProperty } from './apply.js'
import { declaredReference, type OfClasses } from './relations/reference-columns.js'
import { ColumnNames, hiddenProperty, strategyOf } from './columns/column-naming.js'
import { declare, declareProperty, inheritedFacts, lineage } from './entity-facts.js'

/** Options of `@TenantScoped()`. */
export interface TenantScopedOptions {
  /**
   * The property of the tenant, with a column or a `@ManyToOne()` to the tenants' resource. Default: the
   * property with `@TenantColumn()`, or `accountId`.
   */
  readonly column?: string
}

/**
 * Makes every entity belong to a tenant, the calling principal's. It is set at create and never changes. The
 * tenant column becomes part of the primary key, so that creating an entity with another tenant's id reveals
 * nothing. The column is `account_id`, unless the option `column` or `@TenantColumn()` names another
 * property.
 *
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
 * Marks the property of the entity's tenant: a string, UUID or integer with a column, or a `@ManyToOne()` to
 * the tenants' resource. With `@TenantScoped()` it becomes part of the primary key. Without it, the primary
 * key is the key alone, as in many existing tables.
 */
export const TenantColumn: () => PropertyDecorator = (...given: readonly unknown[]) =>
  onProperty('TenantColumn', given, (prototype, property) => {
    declareProperty(prototype, property, { role: 'tenant' })
  })

/** The declaration of an entity's tenant column. */
export interface TenantDeclaration {
  /** The properties that decorators name. Empty if the tenant is in `accountId`. */
  readonly named: readonly string[]
  /**
   * The property of the tenant column, even if it is not declared. `NO_TENANT` if the class declares `shared:
   * true`.
   */
  readonly property: string
  /** The name of that column. */
  readonly column: string
  /** True if the property is a relation that refers to the tenant by this column. */
  readonly isRelation: boolean
}

/** A name that no property or column can have. */
export const NO_TENANT = '\0'

/** The default property of the tenant, and its column unless a naming strategy determines it. */
const ACCOUNT = { propertyName: 'accountId', column: 'account_id' }

/**
 * Returns the property of an entity's tenant, even if the entity has none.
 *
 * @param strategy - the strategy that names its columns.
 * @param isShared - true if it declares `shared: true`. The name of a property alone then does not make it
 *   the tenant.
 */
export function tenantDeclared(
  entity: object,
  strategy = strategyOf(inheritedFacts(entity).resource?.naming),
  isShared = inheritedFacts(entity).resource?.shared === true,
): TenantDeclaration {
  const { tenantColumn, tenantScoped, properties } = inheritedFacts(entity)
  const names = new ColumnNames(strategy)
  const marked = [...properties].flatMap(([property, { role }]) => (role === 'tenant' ? [property] : []))
  const named = [...new Set([...(tenantColumn === undefined ? [] : [tenantColumn]), ...marked])]
  if (isShared && tenantScoped !== true && named.length === 0)
    return { named, property: NO_TENANT, column: NO_TENANT, isRelation: false }
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

/** The tenant of the table of tenants, which has none. */
const TENANTS = { property: '' }

/** The facts about classes that determine the columns of references. */
export const OF_CLASSES: OfClasses = {
  lineage,
  tenantOf: tenantDeclared,
  typeOf: (entity, property) => inheritedFacts(entity).properties.get(property)?.type,
}

let isCalled = false
/** The name of the first class whose model was read. */
let firstRead: string | undefined

/**
 * Declares that the application has no tenants: every `@Resource()` class without an owner is `shared: true`.
 * Call it once, in the file that declares the entities. Rules and row filters then determine who can reach
 * which rows.
 *
 * Startup fails for a class with `@TenantScoped()` or `@TenantColumn()`, and for a class with a column or
 * relation that is named like a tenant (such as `orgId`), unless the class itself declares `shared: true`.
 *
 * @throws TypeError if the model of an entity was read before.
 * @example
 * ```ts
 * import { Resource, withoutTenants } from 'ashlar/decorators'
 * import { Column, Entity, PrimaryColumn } from 'typeorm'
 *
 * withoutTenants()
 *
 * @Resource()
 * @Entity('recipes')
 * class Recipe {
 *   @PrimaryColumn('uuid') id!: string
 *   @Column() title!: string
 * }
 * ```
 */
export function withoutTenants(): void {
  if (firstRead !== undefined && !isCalled)
    throw new TypeError(
      `withoutTenants() is called after ${firstRead} was read: call it before the first repository is created, in the file that declares the entities`,
    )
  isCalled = true
}

/**
 * Returns true if the application has no tenants. The result does not change after the first call.
 *
 * @param entity - the name of the class whose model is read.
 */
export function isWithoutTenants(entity: string): boolean {
  firstRead ??= entity
  return isCalled
}
