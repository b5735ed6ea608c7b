import 'reflect-metadata'
import type { DescMessage } from '@bufbuild/protobuf'
import {
  Column,
  type ColumnOptions,
  DefaultNamingStrategy,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  type NamingStrategyInterface,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm'
import {
  CreateTime,
  Credential,
  Emits,
  ETag,
  Expirable,
  Internal,
  ProtoField,
  Resource,
  Searchable,
  Secret,
  SoftDeletable,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { type Choice, KEYS, nameOf, TENANTS } from './form-choices.js'
import { serviceOf } from './form-service.js'

/** An entity whose properties depend on what was chosen. */
export type Loose = Record<string, unknown>

/** The properties of the resource, by the names of their fields in lowerCamelCase. */
const PROPERTIES = {
  ...{ id: 'code', orgId: 'ownedBy', title: 'heading', note: 'remark', count: 'amount', etag: 'version' },
  ...{ createTime: 'createdAt', updateTime: 'updatedAt', expireTime: 'expiresAt', deleteTime: 'deletedAt' },
  ...{ pin: 'code4', apiKey: 'token' },
} as const

export type FieldName = keyof typeof PROPERTIES

/** One resource, what refers to it, and what its tenants are, where they are a resource. */
export interface Formed {
  readonly name: string
  readonly choice: Choice
  readonly service: ReturnType<typeof serviceOf>
  readonly Item: EntityClass<Loose>
  /** Refers to an item by `itemId`. */
  readonly Piece: EntityClass<Loose> | undefined
  readonly Org: EntityClass<Loose> | undefined
  /** Is no resource. */
  readonly Keeper: EntityClass<object> | undefined
  readonly entities: readonly EntityClass<object>[]
  /** What the property of a field is called. */
  propertyOf(field: FieldName): string
}

/** As typeorm-naming-strategies has it, where every name is prefixed. */
class Prefixed extends DefaultNamingStrategy {
  override columnName(property: string, custom: string | undefined, prefixes: string[]): string {
    return super.columnName(custom ? custom : `c_${property}`, '', prefixes)
  }
  override joinColumnName(relation: string, referenced: string): string {
    return `j_${relation}_${referenced}`
  }
}

/** The strategies of DataSources that know the resources, by how these are named. */
export const STRATEGIES: Readonly<Record<Choice['naming'], NamingStrategyInterface | undefined>> = {
  ...{ snake: undefined, typeorm: undefined, strategy: new Prefixed() },
}

/** Declares what was chosen. @param at - tells its tables from those of others. */
export function formed(choice: Choice, at: number): Formed {
  const { tenant, key, table, naming, children, isRenamed, hasInternals, hasTrigger } = choice
  const keyType = KEYS[key]
  const tenantType = TENANTS[tenant]
  const service = serviceOf(choice)
  const isExisting = table !== 'new'
  const isSoft = choice.deletes === 'softly'
  const propertyOf = (field: FieldName) => (isRenamed ? PROPERTIES[field] : field)
  const fieldOf = (field: string) => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

  const declare = (
    entity: { readonly prototype: object },
    named: string,
    design: unknown,
    ...decorators: readonly PropertyDecorator[]
  ) => {
    Reflect.defineMetadata('design:type', design, entity.prototype, named)
    for (const decorate of decorators) decorate(entity.prototype, named)
  }

  @Entity(`keepers_${at}`)
  class AnyKeeper {
    @PrimaryColumn('int') id!: number
  }
  @Entity(`orgs_${at}`)
  class AnyOrg {}
  @Entity(`items_${at}`)
  class AnyItem {}
  @Entity(`pieces_${at}`)
  class AnyPiece {}

  const field = (named: FieldName, design: unknown, ...decorators: readonly PropertyDecorator[]) => {
    const renamed = isRenamed ? [ProtoField(fieldOf(named))] : []
    declare(AnyItem, propertyOf(named), design, ...decorators, ...renamed)
  }
  const text = (length: number): ColumnOptions => ({ type: 'varchar', length })
  const nullable = choice.hasNulls && { nullable: true }

  const minted = PrimaryGeneratedColumn(keyType.column as never)
  field('id', keyType.design, key === 'minted' ? minted : PrimaryColumn(keyType.column as never))
  field('title', String, Column(text(100)), ...(choice.searches ? [Searchable()] : []))
  field('note', String, Column({ ...text(100), ...nullable }))
  field('count', Number, Column({ type: 'int', ...nullable }))
  field('etag', String, ETag())
  field('createTime', Date, CreateTime({ filterable: true }))
  field('updateTime', Date, UpdateTime({ filterable: true, ...(hasTrigger && { generated: true }) }))
  field('expireTime', Date)
  Expirable()(AnyItem)
  if (isSoft) {
    field('deleteTime', Date)
    SoftDeletable()(AnyItem)
  }
  if (choice.hasSecrets) {
    field('pin', String, Secret())
    field('apiKey', String, Credential())
  }
  if (hasInternals) {
    declare(AnyItem, 'memo', String, Internal(), Column({ ...text(20), default: 'none' }))
    declare(
      AnyItem,
      'keeper',
      AnyKeeper,
      Internal(),
      ManyToOne(() => AnyKeeper, { cascade: true }),
    )
    declare(
      AnyItem,
      'watchers',
      Array,
      Internal(),
      ManyToMany(() => AnyKeeper),
      JoinTable({ name: `w_${at}` }),
    )
  }
  if (choice.emits) Emits({ include: 'changed' })(AnyItem)

  const isRelation = tenant === 'relation'
  if (isRelation) {
    declare(AnyOrg, 'id', tenantType.design, PrimaryColumn(tenantType.column as never))
    declare(AnyOrg, 'title', String, Column({ ...text(40), nullable: true }))
    Resource({ type: `org_${at}`, shared: true, naming: STRATEGIES[naming] ?? (naming as 'snake') })(AnyOrg)
  }
  const tenantColumn: ColumnOptions & { readonly name?: string } = {
    ...tenantType.column,
    ...(isRelation && { name: 'owner' }),
    ...(table === 'existing, keyed by id' && { nullable: true }),
  }
  const isInKey = table === 'existing, keyed by tenant and id'
  for (const entity of [AnyItem, AnyPiece]) {
    const named = entity === AnyItem ? propertyOf('orgId') : 'orgId'
    const decorators = [isInKey ? PrimaryColumn(tenantColumn as never) : Column(tenantColumn as never)]
    if (entity === AnyItem && isRenamed) decorators.push(ProtoField('org_id'))
    declare(entity, named, tenantType.design, ...decorators)
    if (isRelation)
      declare(
        entity,
        'org',
        AnyOrg,
        ManyToOne(() => AnyOrg),
        JoinColumn({ name: 'owner' }),
      )
    TenantScoped({ column: isRelation ? 'org' : named })(entity)
  }

  if (children !== 'none') {
    declare(AnyPiece, 'id', String, PrimaryColumn({ type: 'varchar', length: 40 }))
    declare(
      AnyPiece,
      'itemId',
      keyType.design,
      Column({ ...keyType.column, name: 'item_ref', nullable: true } as never),
    )
    const onDelete = ({ cascade: 'CASCADE', 'set null': 'SET NULL', restrict: 'RESTRICT' } as const)[children]
    const to = ManyToOne(() => AnyItem, 'pieces', { onDelete })
    const joined = { name: 'item_ref', referencedColumnName: propertyOf('id') }
    const tenantOf =
      STRATEGIES[naming]?.columnName('orgId', tenantColumn.name, []) ?? tenantColumn.name ?? 'orgId'
    const byTenant = { name: tenantOf, referencedColumnName: propertyOf('orgId') }
    // Where nothing of TypeORM's metadata is changed, it has to know each column.
    const isWhole = naming !== 'snake' && isInKey
    const join = isWhole ? JoinColumn([byTenant, joined]) : JoinColumn({ name: 'item_ref' })
    declare(AnyPiece, 'item', AnyItem, to, join)
    declare(
      AnyItem,
      'pieces',
      Array,
      OneToMany(() => AnyPiece, 'item'),
    )
    if (isSoft) SoftDeletable()(AnyPiece)
  }

  const options = {
    naming: STRATEGIES[naming] ?? (naming as 'snake'),
    ...(isExisting && { existing: true }),
  }
  const message = service.method.getTask.output as DescMessage
  if (children !== 'none') Resource({ ...options, type: `piece_${at}` })(AnyPiece)
  Resource({ ...options, type: 'task', message })(AnyItem)

  const optional = <T>(is: boolean, value: T) => (is ? value : undefined)
  const Piece = optional(children !== 'none', AnyPiece as EntityClass<Loose>)
  const Org = optional(isRelation, AnyOrg as EntityClass<Loose>)
  const Keeper = optional(hasInternals, AnyKeeper)
  const known = [Org, AnyItem, Piece, Keeper]
  return {
    ...{ name: nameOf(choice), choice, service, propertyOf, Piece, Org, Keeper },
    Item: AnyItem as EntityClass<Loose>,
    entities: known.filter((entity) => entity !== undefined),
  }
}
