import type { DescMessage } from '@bufbuild/protobuf'
import { Column, type ColumnOptions, type ColumnType, getMetadataArgsStorage } from 'typeorm'
import { onClass, wordStandardProperties } from './apply.js'
import { declare, declareProperty, inheritedFacts, lineage } from './entity-facts.js'
import { completeJoinColumns } from './relations/join-columns.js'
import { internalOf } from './property-mapping.js'
import { referenceColumns, withTypeOfKey } from './relations/reference-columns.js'
import { fieldsByProperty, namedFields } from './columns/fields-by-property.js'
import { ColumnNames, type ResourceNaming, strategyOf } from './columns/column-naming.js'
import { generatedNumbers, takeGeneratedUuids } from './columns/generated-values.js'
import { keepTimes, propertyOfTime, timesDeclared } from './columns/kept-times.js'
import { ownOptions } from './columns/own-options.js'
import { secretColumns } from './columns/secret-columns.js'
import { manageColumn } from './columns/managed-column.js'
import { OF_CLASSES, tenantDeclared } from './tenant-scoped.js'
import { declaredClass } from '../lib/resource/kinds/declared-kind.js'

/** Options of `@Resource()`. */
export interface ResourceOptions {
  /** The entity's proto message. Without one, proto names are the property names in snake_case. */
  readonly message?: DescMessage
  /**
   * The resource type in authorization rules. Default: the class name in snake_case, such as `widget` for
   * `Widget` and `WidgetEntity`.
   */
  readonly type?: string
  /**
   * True if all tenants share the entities, so that a caller with a grant can reach every row. A resource
   * either declares this or is `@TenantScoped()`.
   */
  readonly shared?: boolean
  /** The column naming of an existing database: `deleted_at` (gorm, the default) or `delete_time` (ent). */
  readonly shape?: 'gorm' | 'ent'
  /**
   * The names of columns without an explicit name. With `snake`, the default, `displayName` is stored in
   * `display_name`, and `@Resource()` completes TypeORM's metadata of the entity. `typeorm` is for an entity
   * whose table TypeORM has created: TypeORM's metadata does not change, so that `displayName` is stored in
   * `displayName`. If the DataSource has a `namingStrategy`, pass that strategy here instead.
   *
   * @example
   * ```ts
   * import { Resource } from 'ashlar'
   * import { Column, Entity, PrimaryColumn } from 'typeorm'
   *
   * @Resource({ shared: true, naming: 'typeorm' })
   * @Entity()
   * class Country {
   *   @PrimaryColumn() code!: string
   *   @Column() displayName!: string
   * }
   * ```
   */
  readonly naming?: ResourceNaming
  /**
   * True if the table belongs to another application and must not change. Its primary key may lack the
   * tenant, and the collation of strings other than key and tenant may treat different strings as equal. NULL
   * in the column of a field without presence is read as the zero value. `ashlar migrate verify` fails for
   * differences that affect isolation or values, and notes the others.
   *
   * @example
   * ```ts
   * import { OutputOnly, Resource, TenantScoped } from 'ashlar'
   * import { Column, Entity, PrimaryColumn } from 'typeorm'
   *
   * @Resource({ existing: true })
   * @Entity('orders')
   * @TenantScoped()
   * class Order {
   *   @PrimaryColumn('uuid') id!: string
   *   @Column({ type: 'varchar', length: 40 }) accountId!: string
   *   @Column({ type: 'varchar', length: 80, nullable: true }) note?: string
   *   @Column() @OutputOnly({ generated: true }) updatedAt!: Date
   * }
   * ```
   */
  readonly existing?: boolean
}

/**
 * Makes a TypeORM entity a resource. It adds the columns that other decorators require, and names every
 * unnamed column in snake_case unless the option `naming` specifies otherwise. It must be the topmost
 * decorator.
 *
 * @example
 * ```ts
 * import { Resource, TenantScoped } from 'ashlar'
 * import { Column, Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('crates')
 * @TenantScoped()
 * class Crate {
 *   @PrimaryColumn() id!: string
 *   @Column() label!: string
 *   accountId!: string
 * }
 * ```
 */
export function Resource(options: ResourceOptions = {}): ClassDecorator {
  wordStandardProperties()
  return onClass('Resource', [options], (entity) => {
    const prototype = entity.prototype as object
    declareTimes(entity)
    const facts = inheritedFacts(entity)
    const named = namedFields(facts.properties)
    const internal = internalOf(facts.properties)
    const [deleted, expired] = [
      propertyOfTime('delete_time', 'deleteTime', facts.properties),
      propertyOfTime('expire_time', 'expireTime', facts.properties),
    ]
    const strategy = strategyOf(options.naming)
    const names = new ColumnNames(strategy)
    ownOptions(columnsOf(entity))
    keepTimes(new Set<unknown>(lineage(entity)), facts)
    const nullableTime = { type: Date, nullable: true } as const
    const classes = new Set<unknown>(lineage(entity))
    for (const { owner, property } of takeGeneratedUuids(classes, strategy !== undefined, internal))
      declareProperty(owner, property, { mintsUuid: true })
    for (const { owner, property } of generatedNumbers(classes, internal))
      declareProperty(owner, property, { mintsNumber: true })
    const tenant = tenantDeclared(entity, strategy, options.shared === true)
    const held = columnsOf(entity).find((column) => column.propertyName === tenant.property)
    // An existing table's primary key does not change.
    const joinsKey = facts.tenantScoped === true && options.existing !== true && !mintsKey(entity)
    if (strategy !== undefined) {
      if (held === undefined && !tenant.isRelation && facts.tenantScoped && tenant.named.length === 0)
        Column({ type: String })(prototype, tenant.property)
    } else if (facts.tenantScoped && held !== undefined && options.existing !== true)
      keyTenant(entity, held, joinsKey)
    else if (held === undefined && (tenant.isRelation || (facts.tenantScoped && tenant.named.length === 0)))
      Column({ type: String, name: tenant.column, primary: joinsKey })(prototype, tenant.property)
    if (strategy === undefined) nameOnce(columnsOf(entity))
    if (facts.softDeletable && !has(entity, deleted)) {
      const name = options.shape === 'ent' ? 'delete_time' : 'deleted_at'
      Column({ ...nullableTime, ...(strategy === undefined && { name }) })(prototype, deleted)
    }
    if (facts.expirable !== undefined && !has(entity, expired))
      Column({ ...nullableTime, ...(strategy === undefined && { name: 'expire_time' }) })(prototype, expired)
    const secrets = secretColumns(facts.properties)
    const references = referenceColumns(classes, tenant, names, OF_CLASSES)
    const declared = new Set(columnsOf(entity).map(({ propertyName }) => propertyName))
    const inMessage = fieldsByProperty(fieldsOf(options.message), named, declared)
    for (const { options: column, propertyName, target } of columnsOf(entity)) {
      if (internal.has(propertyName)) {
        if (strategy === undefined) column.name ??= names.of({ propertyName, options: column })
        continue
      }
      const { prototype: owner } = target as { readonly prototype: object }
      const {
        role,
        mintsNumber,
        enumLabels,
        type: held = column.type,
      } = inheritedFacts(entity).properties.get(propertyName) ?? {}
      const designType: unknown = Reflect.getMetadata('design:type', owner, propertyName)
      // For TypeORM the type of a generated number is always Number, regardless of the property's type.
      const isWide = mintsNumber === true && held === Number && designType === BigInt
      const type = isWide ? BigInt : held
      const isUnknown = typeof type === 'function' && !TYPEORMS_OWN.has(type)
      if (strategy === undefined) {
        column.name ??= names.of({ propertyName, options: column })
        declareProperty(owner, propertyName, { isManaged: true })
      } else if (secrets.has(propertyName))
        column.name ??= strategy.columnName(secrets.get(propertyName)?.name ?? '', undefined, [])
      if (strategy !== undefined && role !== 'tags' && !isUnknown) continue
      const reference = references.get(names.of({ propertyName, options: column }))
      const reported = manageColumn(column, {
        property: propertyName,
        isTags: role === 'tags',
        isKeyPart: reference !== undefined || column.primary === true || propertyName === tenant.property,
        designType: declaredClass(designType, mintsNumber === true ? undefined : type),
        inMessage: inMessage.get(propertyName),
        enumLabels,
        isOfTypeorm: options.existing === true || strategy !== undefined,
        options: withTypeOfKey({ ...column, type: type as ColumnType }, reference?.column),
      })
      if (reported === undefined && !isUnknown) continue
      declareProperty(owner, propertyName, { type })
      column.type = reported ?? 'text'
    }
    if (strategy === undefined) completeJoinColumns(entity, lineage, tenantDeclared, internal)
    declare(entity, 'Resource', { resource: options })
  })
}

/**
 * Declares the roles of `@CreateDateColumn()` and similar decorators, which need no decorator of Ashlar's.
 */
function declareTimes(entity: object): void {
  for (const { owner, property, role } of timesDeclared(new Set(lineage(entity)), inheritedFacts(entity))) {
    declareProperty(owner, property, { role })
    if (role === 'deleteTime') declare(entity, 'DeleteDateColumn', { softDeletable: true })
  }
}

/** Returns true if the database generates the entity's key. */
function mintsKey(entity: object): boolean {
  const { properties } = inheritedFacts(entity)
  return columnsOf(entity).some(
    ({ propertyName, options }) =>
      options.primary === true && properties.get(propertyName)?.mintsNumber === true,
  )
}

/**
 * Adds the tenant column to the primary key, unless the database generates the key. SQLite cannot generate a
 * part of a composite key, and MySQL requires an index that begins with the generated number.
 */
function keyTenant(
  entity: object & { readonly prototype: unknown },
  held: ReturnType<typeof columnsOf>[number],
  isInKey: boolean,
): void {
  if (isInKey) held.options.primary = true
  else if (held.target === entity) held.options.primary = false
  // Other classes that extend this one may have the column in their keys.
  else
    Column({ ...held.options, primary: false } as ColumnOptions)(
      entity.prototype as object,
      held.propertyName,
    )
}

/**
 * The property classes for which TypeORM has a column type. Others are declared with a type that every
 * database has, because TypeORM would otherwise reject the column too early. The model determines the stored
 * type.
 */
const TYPEORMS_OWN = new Set<unknown>([String, Number, Boolean, Date])

function columnsOf(entity: object) {
  const classes = new Set<unknown>(lineage(entity))
  return getMetadataArgsStorage().columns.filter((column) => classes.has(column.target))
}

/** Gives all columns of the primary key the same constraint name, as TypeORM requires. */
function nameOnce(columns: ReturnType<typeof columnsOf>): void {
  const primary = columns.filter(({ options }) => options.primary === true)
  const named = primary.find(({ options }) => options.primaryKeyConstraintName !== undefined)?.options
  if (named?.primaryKeyConstraintName === undefined) return
  for (const { options } of primary) options.primaryKeyConstraintName ??= named.primaryKeyConstraintName
}

/**
 * Returns the fields of a message. Any value can be passed as the message; the resource model rejects invalid
 * ones.
 */
const fieldsOf = (message: Partial<DescMessage> | undefined) =>
  message?.kind === 'message' ? (message.fields ?? []) : []

const has = (entity: object, property: string) =>
  columnsOf(entity).some((column) => column.propertyName === property)
