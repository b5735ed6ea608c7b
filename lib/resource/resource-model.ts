import type { DescMessage, Message } from '@bufbuild/protobuf'
import type { NamingStrategyInterface } from 'typeorm'
import type { Embedded } from './typeorm/embedded.js'
import type { Columns, ComputedField, Field } from './fields/field.js'
import type { IndexGroup } from './index-groups.js'
import type { KeyPart } from './keys/key-part.js'
import type { ResourceKeys } from './keys/resource-keys.js'
import type { NamePattern } from './names/name-pattern.js'
import type { EventsModel } from './events-model.js'
import type { Oneof } from './values/oneofs.js'
import type { Relation } from './relations/relation.js'
import type { SearchModel } from './search/search-model.js'
import type { EntityListener } from './typeorm/declared-hooks.js'
import type { InternalTable } from './typeorm/internal-columns.js'
import type { VersionEtag } from './values/version-etag.js'
import type { Output, WriteEntity } from './wire/write-entity.js'

/** An entity class. */
export type EntityClass<E extends object> = new () => E

/** The table in the `@Entity` declaration. */
export interface DeclaredTable {
  /** Undefined if the name is derived from the class. */
  readonly name: string | undefined
  /** The schema, on PostgreSQL. */
  readonly schema: string | undefined
  /** The database, on MySQL. */
  readonly database: string | undefined
}

/** A `@Secret()` property and its columns. */
export interface SecretField {
  readonly property: string
  readonly proto: string
  readonly hash: Field
  readonly cipher: Field
}

/** A `@Credential()` property and its columns. */
export interface CredentialField {
  readonly property: string
  readonly proto: string
  readonly publicId: Field
  readonly salt: Field
  readonly hash: Field
  readonly hashspec: Field
}

/**
 * The complete description of one resource, computed once from decorators, TypeORM metadata and the proto
 * message, and frozen. No other code determines what a field is.
 */
export interface ResourceModel<E extends object = object> {
  readonly entity: EntityClass<E>
  /** The resource type in rules, such as `widget`. */
  readonly type: string
  /** The table name of the entity. A DataSource may add a prefix or a schema. */
  readonly table: string
  /**
   * The table that `@Entity` declares.
   * @internal
   */
  readonly declaredTable: DeclaredTable
  /** Selects column names only: `deleted_at` (gorm) or `delete_time` (ent). @internal */
  readonly shape: 'gorm' | 'ent'
  /**
   * TypeORM's naming strategy for the columns. Undefined if they have snake_case names, which TypeORM then
   * uses too.
   * @internal
   */
  readonly strategy: NamingStrategyInterface | undefined
  /** The proto message, if one is linked. */
  readonly message: DescMessage | undefined
  /** Every stored field, in column order. */
  readonly fields: readonly Field[]
  readonly byProperty: ReadonlyMap<string, Field>
  readonly byProto: ReadonlyMap<string, Field>
  readonly key: Field
  /** The rules for converting and comparing keys. @internal */
  readonly keys: ResourceKeys
  /** The name pattern of entities (AIP-122), if the message's `google.api.resource` has one. */
  readonly name: NamePattern | undefined
  /** The field that contains the tenant; undefined if the resource has none. */
  readonly tenant: Field | undefined
  /** Converts the tenant between a string and the entity's value; undefined without a tenant. @internal */
  readonly tenantPart: KeyPart | undefined
  /**
   * True if the tenant is part of the primary key, so that an attempt to create another tenant's id reveals
   * nothing about it.
   * @internal
   */
  readonly tenantInKey: boolean
  /** True if another application owns the table, so that Ashlar does not change its schema. */
  readonly existing: boolean
  /** True if the table generates column values, so that each write reads the row back. @internal */
  readonly isChangedByTable: boolean
  /** True if an INSERT may omit columns that the table then fills. @internal */
  readonly isFilledByTable: boolean
  readonly etag: Field | undefined
  /**
   * The columns from which the etag is computed, if the message has one and the class has no `@ETag()`.
   * @internal
   */
  readonly versionEtag: VersionEtag | undefined
  /** The number of writes of a row, starting at 1: TypeORM's `@VersionColumn()`. */
  readonly version: Field | undefined
  readonly createTime: Field | undefined
  readonly updateTime: Field | undefined
  /** If present, the resource is soft-deleted (AIP-164). */
  readonly deleteTime: Field | undefined
  /** If present, `purgeExpired` removes expired entities. */
  readonly expireTime: Field | undefined
  /** The time from create to `expire_time` in milliseconds, if the resource declares it. */
  readonly ttlMs: number | undefined
  /** Maps filterable and sortable proto fields to columns. */
  readonly columns: Columns
  /**
   * Proto fields that callers can read but that filters and sort orders cannot name, with the reason.
   * @internal
   */
  readonly closed: ReadonlyMap<string, string>
  /**
   * Maps fields to columns for predicates of server code. It contains every field without a transformer.
   * @internal
   */
  readonly predicateColumns: Columns
  /** Maps proto names of tags fields to JSON columns. */
  readonly jsonColumns: Columns
  /** Proto names that a mask may contain (besides `*`). */
  readonly writable: ReadonlySet<string>
  /**
   * Fields without a zero value whose columns are NOT NULL, such as timestamps. A write must set them.
   * @internal
   */
  readonly required: readonly Field[]
  /**
   * Alternative names for masks and sort orders in code: the class's property names, also in snake_case.
   * Undefined if all are equal to field names.
   * @internal
   */
  readonly codeNames: ReadonlyMap<string, string> | undefined
  /** Secrets, which can be retrieved. Their two columns are fields with the role `secret`. @internal */
  readonly secrets: readonly SecretField[]
  /**
   * Credentials, which can only be verified. Their four columns are fields with the role `credential`.
   * @internal
   */
  readonly credentials: readonly CredentialField[]
  /** The oneofs of the message. Usually empty. @internal */
  readonly oneofs: readonly Oneof[]
  /** Embedded classes. Their columns are among the fields, with paths as names. Usually empty. @internal */
  readonly embedded: readonly Embedded[]
  /**
   * The fields of `@Computed()`, which no other list contains.
   * @internal
   */
  readonly computed: readonly ComputedField[]
  /** The fields of an entity, without the columns of secrets and credentials. */
  readonly entityFields: readonly Field[]
  /** The searchable text of `q`; undefined if the resource is not searchable. @internal */
  readonly search: SearchModel | undefined
  /**
   * TypeORM's relations: `@ManyToOne`, `@OneToMany` and `@OneToOne`. Usually empty.
   * @internal
   */
  readonly relations: readonly Relation[]
  /**
   * Fields that are unique together among live rows, within a tenant if there is one. The key is not
   * included.
   * @internal
   */
  readonly uniques: readonly IndexGroup[]
  /** Fields that are indexed together. @internal */
  readonly indexes: readonly IndexGroup[]
  /**
   * Returns the part of the table that only TypeORM manages. Call it once all classes are loaded.
   * @internal
   */
  readonly internal: () => InternalTable
  /** The events that changes emit; undefined if there are none. @internal */
  readonly events: EventsModel | undefined
  /**
   * The entity's methods that TypeORM's decorators name, such as `@BeforeInsert()`.
   * @internal
   */
  readonly listeners: readonly EntityListener[]
  /**
   * Creates an entity without values. Its `@Computed()` properties are computed whenever they are read.
   * @internal
   */
  readonly create: () => E
  /**
   * Converts an entity to its message, without secrets and credentials. `M` is the type that the caller
   * expects. It does not extend `Message`, because TypeScript 5.9 could then not infer the result of a method
   * that returns a message or its fields.
   */
  toMessage<M extends object = Message>(entity: E): M
  /**
   * Writes the bytes of `toMessage(entity)` without creating the message. Throws for an invalid value;
   * `toBinary` of the message then reports the reason.
   * @internal
   */
  readonly write: WriteEntity
  /** The source of each message field's value. @internal */
  readonly outputs: readonly Output[]
  /** True if masks may contain paths into free-form JSON. @internal */
  readonly hasFreeForm: boolean
  /**
   * Converts a client's message to an entity. Output-only values are ignored (AIP-203).
   * @param named - the properties to set. Default: all.
   */
  fromMessage(message: Message, named?: ReadonlySet<string>): E
  /**
   * Removes zero values of fields with defaults from an entity that was converted from a client's message.
   * For a field without presence, a Create cannot distinguish zero from unset.
   * @internal
   */
  leaveToDefaults(entity: E): void
  /**
   * Checks that every value can be stored. The rules are the same on every backend.
   * @param properties - limits the check to these properties.
   * @throws InvalidArgument with the proto field.
   */
  checkValues(entity: Partial<E>, properties?: readonly string[]): void
}

export { isResource, resourceModel } from './model-of.js'
