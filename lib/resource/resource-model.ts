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

/** A class whose instances are entities. */
export type EntityClass<E extends object> = new () => E

/** The table as `@Entity` declares it. */
export interface DeclaredTable {
  /** Undefined when the class name determines it. */
  readonly name: string | undefined
  /** On PostgreSQL. */
  readonly schema: string | undefined
  /** On MySQL. */
  readonly database: string | undefined
}

/** One `@Secret()` property with the columns behind it. */
export interface SecretField {
  readonly property: string
  readonly proto: string
  readonly hash: Field
  readonly cipher: Field
}

/** One `@Credential()` property with the columns behind it. */
export interface CredentialField {
  readonly property: string
  readonly proto: string
  readonly publicId: Field
  readonly salt: Field
  readonly hash: Field
  readonly hashspec: Field
}

/**
 * Everything the framework knows about one resource, computed once from decorators, TypeORM metadata and the
 * proto message, and frozen. It is the only place that knows what a field is.
 */
export interface ResourceModel<E extends object = object> {
  readonly entity: EntityClass<E>
  /** Resource type as rules name it, such as `widget`. */
  readonly type: string
  /** The table as the entity names it. A DataSource may add a prefix or a schema. */
  readonly table: string
  /** The table that `@Entity` declares. */
  readonly declaredTable: DeclaredTable
  /** Decides column names only: `deleted_at` (gorm) or `delete_time` (ent). */
  readonly shape: 'gorm' | 'ent'
  /**
   * TypeORM's naming strategy of its columns. Undefined if they have snake_case names, which TypeORM has too.
   */
  readonly strategy: NamingStrategyInterface | undefined
  /** The proto message, where one is linked. */
  readonly message: DescMessage | undefined
  /** Every stored field, in column order. */
  readonly fields: readonly Field[]
  readonly byProperty: ReadonlyMap<string, Field>
  readonly byProto: ReadonlyMap<string, Field>
  readonly key: Field
  /** Texts of keys and what is bound of them. */
  readonly keys: ResourceKeys
  /** The name pattern of entities (AIP-122), if the message's `google.api.resource` has one. */
  readonly name: NamePattern | undefined
  /** Holds the tenant; undefined when the resource belongs to none. */
  readonly tenant: Field | undefined
  /** The string of a tenant, and the value of an entity; undefined without a tenant. */
  readonly tenantPart: KeyPart | undefined
  /**
   * True if the tenant is part of the primary key, so that creating another tenant's id reveals nothing about
   * it.
   */
  readonly tenantInKey: boolean
  /** True if the table is another application's, and stays as it is. */
  readonly existing: boolean
  /** True if the table sets columns by itself, so that each write reads the row back. */
  readonly isChangedByTable: boolean
  /** True if an INSERT may leave columns out, which the table then fills. */
  readonly isFilledByTable: boolean
  readonly etag: Field | undefined
  /** The columns of which the etag is made, if the message has one and the class has no `@ETag()`. */
  readonly versionEtag: VersionEtag | undefined
  /** Counts the writes of a row, from 1: TypeORM's `@VersionColumn()`. */
  readonly version: Field | undefined
  readonly createTime: Field | undefined
  readonly updateTime: Field | undefined
  /** When present, the resource is soft-deleted (AIP-164). */
  readonly deleteTime: Field | undefined
  /** When present, `purgeExpired` removes expired entities. */
  readonly expireTime: Field | undefined
  /** Milliseconds from create to `expire_time`, where the resource declares it. */
  readonly ttlMs: number | undefined
  /** Maps filterable and sortable proto fields to columns. */
  readonly columns: Columns
  /** Proto fields that callers see but that filters and orders cannot name, each with the reason. */
  readonly closed: ReadonlyMap<string, string>
  /** Fields for predicates of the server's own code: every field without a transformer → columns. */
  readonly predicateColumns: Columns
  /** Proto names of tags fields → JSON columns. */
  readonly jsonColumns: Columns
  /** Proto names that a mask may contain (besides `*`). */
  readonly writable: ReadonlySet<string>
  /** Fields without a zero value whose columns are NOT NULL, such as a time. A write has to set them. */
  readonly required: readonly Field[]
  /**
   * Names that masks and sort orders of code use besides field names: properties as the class names them, and
   * in snake_case. Undefined if each has its field's name.
   */
  readonly codeNames: ReadonlyMap<string, string> | undefined
  /** Retrievable secrets; their two columns are fields of role `secret`. */
  readonly secrets: readonly SecretField[]
  /** Verify-only credentials; their four columns are fields of role `credential`. */
  readonly credentials: readonly CredentialField[]
  /** The oneofs of the message. Usually empty. */
  readonly oneofs: readonly Oneof[]
  /** Embedded classes. Their columns are among the fields, with paths as names. Usually empty. */
  readonly embedded: readonly Embedded[]
  /** Fields that `@Computed()` declares. No other list of fields has them. */
  readonly computed: readonly ComputedField[]
  /** The fields of an entity: all but the columns of secrets and credentials. */
  readonly entityFields: readonly Field[]
  /** The source of the text that `q` searches; undefined if the resource is not searchable. */
  readonly search: SearchModel | undefined
  /** TypeORM's relations: `@ManyToOne`, `@OneToMany` and `@OneToOne`. Usually empty. */
  readonly relations: readonly Relation[]
  /**
   * Fields that are unique together, keys aside; unique among live rows, and per tenant where there is one.
   */
  readonly uniques: readonly IndexGroup[]
  /** Fields that are looked up together. */
  readonly indexes: readonly IndexGroup[]
  /** The part of its table that only TypeORM knows. Call it once all classes are loaded. */
  readonly internal: () => InternalTable
  /** The events of changes; undefined if there are none. */
  readonly events: EventsModel | undefined
  /** The methods of the entity that TypeORM's decorators name, such as `@BeforeInsert()`. */
  readonly listeners: readonly EntityListener[]
  /** A new entity without values; it computes what `@Computed()` declares whenever that is read. */
  readonly create: () => E
  /**
   * Turns an entity into its message, of the type that the caller expects. Secrets and credentials are never
   * in it. `M` does not extend `Message`: TypeScript 5.9 infers the possible results of a method, a message
   * or its fields, and would give up.
   */
  toMessage<M extends object = Message>(entity: E): M
  /**
   * Writes the bytes of `toMessage(entity)`, without making the message. Throws for what cannot be written,
   * and `toBinary` of the message then says why.
   */
  readonly write: WriteEntity
  /** The source of each message field's value. */
  readonly outputs: readonly Output[]
  /** True if masks may lead into free-form JSON. */
  readonly hasFreeForm: boolean
  /** Converts a client's message to an entity. Output-only values are dropped (AIP-203). */
  fromMessage(message: Message): E
  /**
   * Takes out of an entity made of a client's message what the message cannot tell from absent, where there
   * is a default: on Create a field without presence that holds its zero is not set.
   */
  leaveToDefaults(entity: E): void
  /**
   * Checks that every value can be stored. The rules are the same on every backend.
   * @param properties - only these, when given.
   * @throws InvalidArgument with the proto field.
   */
  checkValues(entity: Partial<E>, properties?: readonly string[]): void
}

export { isResource, resourceModel } from './model-of.js'
