import type { DescMessage } from '@bufbuild/protobuf'
import { Column, type ColumnType, getMetadataArgsStorage } from 'typeorm'
import { onClass, wordStandardProperties } from './apply.js'
import { declare, declareProperty, inheritedFacts, lineage } from './entity-facts.js'
import { completeJoinColumns } from './relations/join-columns.js'
import { referenceColumns } from './relations/reference-columns.js'
import { fieldsByProperty, namedFields } from './columns/fields-by-property.js'
import { takeGeneratedUuids } from './columns/generated-uuids.js'
import { manageColumn } from './columns/managed-column.js'
import { tenantDeclared } from './tenant-scoped.js'
import { snakeCase } from '../lib/text/snake-case.js'

/** Options of `@Resource()`. */
export interface ResourceOptions {
  /** The proto message of the entity. Without one, proto names are the property names in snake_case. */
  readonly message?: DescMessage
  /** Resource type in authorization rules. Default: the class name in snake_case. */
  readonly type?: string
  /**
   * All tenants share the entities: a caller with a grant can reach every row. A resource declares this, or
   * is `@TenantScoped()`.
   */
  readonly shared?: boolean
  /** Column naming of an existing database: `deleted_at` (gorm, the default) or `delete_time` (ent). */
  readonly shape?: 'gorm' | 'ent'
}

/**
 * Makes a TypeORM entity a resource. It adds the columns that the other decorators ask for, and names every
 * unnamed column in snake_case. Write it topmost.
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
    const facts = inheritedFacts(entity)
    const named = namedFields(facts.properties)
    /** Of a time that the framework keeps. */
    const propertyOf = (field: string, property: string) =>
      [...named].find(([, name]) => name === field)?.[0] ?? property
    const [deleted, expired] = [
      propertyOf('delete_time', 'deleteTime'),
      propertyOf('expire_time', 'expireTime'),
    ]
    const nullableTime = { type: Date, nullable: true } as const
    const tenant = tenantDeclared(entity)
    const held = columnsOf(entity).find((column) => column.propertyName === tenant.property)
    if (facts.tenantScoped && held !== undefined) held.options.primary = true
    else if (held === undefined && (tenant.isRelation || (facts.tenantScoped && tenant.named.length === 0)))
      Column({ type: String, name: tenant.column, primary: facts.tenantScoped === true })(
        prototype,
        tenant.property,
      )
    if (facts.softDeletable && !has(entity, deleted))
      Column({ ...nullableTime, name: options.shape === 'ent' ? 'delete_time' : 'deleted_at' })(
        prototype,
        deleted,
      )
    if (facts.expirable !== undefined && !has(entity, expired))
      Column({ ...nullableTime, name: 'expire_time' })(prototype, expired)
    const classes = new Set<unknown>(lineage(entity))
    for (const { owner, property } of takeGeneratedUuids(classes))
      declareProperty(owner, property, { mintsUuid: true })
    const references = referenceColumns(classes, tenant)
    const inMessage = fieldsByProperty(fieldsOf(options.message), named)
    for (const { options: column, propertyName, target } of columnsOf(entity)) {
      column.name ??= snakeCase(propertyName)
      const { prototype: owner } = target as { readonly prototype: object }
      const { role, type = column.type } = inheritedFacts(entity).properties.get(propertyName) ?? {}
      const told = manageColumn(column, {
        property: propertyName,
        isTags: role === 'tags',
        isKeyPart: references.has(column.name) || column.primary === true || propertyName === tenant.property,
        designType: Reflect.getMetadata('design:type', owner, propertyName),
        inMessage: inMessage.get(propertyName),
        options: { ...column, type: type as ColumnType },
      })
      const isUnknown = typeof type === 'function' && !TYPEORMS_OWN.has(type)
      if (told === undefined && !isUnknown) continue
      declareProperty(owner, propertyName, { type })
      column.type = told ?? 'text'
    }
    completeJoinColumns(entity, lineage, tenantDeclared)
    declare(entity, 'Resource', { resource: options })
  })
}

/**
 * Property classes that TypeORM has a column type for. For all others it is told a type that every database
 * has: otherwise it would refuse the column too early. The model decides what is stored.
 */
const TYPEORMS_OWN = new Set<unknown>([String, Number, Boolean, Date])

function columnsOf(entity: object) {
  const classes = new Set<unknown>(lineage(entity))
  return getMetadataArgsStorage().columns.filter((column) => classes.has(column.target))
}

/** Anything can be given as the message. The resource model refuses what is none. */
const fieldsOf = (message: Partial<DescMessage> | undefined) =>
  message?.kind === 'message' ? (message.fields ?? []) : []

const has = (entity: object, property: string) =>
  columnsOf(entity).some((column) => column.propertyName === property)
