import type { JsonValue, ScalarType } from '@bufbuild/protobuf'
import type { ColumnOptions, ColumnType } from 'typeorm'
import type { KeyRules } from './key-rules.js'
import type { Literal, Misfit } from './literal.js'

/** What a column can hold. `json` is anything repeated or embedded, `tags` a map<string, string>. */
export type KindName =
  | 'string'
  | 'uuid'
  | 'date'
  | 'bytes'
  | 'bool'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'uint64'
  | 'float'
  | 'double'
  | 'enum'
  | 'timestamp'
  | 'duration'
  | 'json'
  | 'tags'

/** Numbers and proto names of an enum, both ways. */
export interface EnumNames {
  readonly nameOf: ReadonlyMap<number, string>
  readonly numberOf: ReadonlyMap<string, number>
}

/** JSON text of a column ↔ entity value. */
export interface JsonColumn {
  /** @throws InvalidArgument when the value is not what the field holds. */
  readonly encode: (value: unknown) => string
  readonly decode: (text: string) => unknown
}

/** What of a column belongs to its kind: how long a text may be, which names an enum has. */
export interface Facets {
  readonly enumNames?: EnumNames
  /** The most characters, for strings with a bounded column. */
  readonly maxLength?: number | undefined
  /**
   * Of a string in an existing table whose declaration states no length: the engine decides how long a value
   * may be, as it did when TypeORM created the column.
   */
  readonly hasEngineLength?: true
  /** For `json`: whether the message field is repeated. */
  readonly repeated?: boolean
  /** How the JSON of its column is read and written, where it holds any. */
  readonly json?: JsonColumn
  /** True if a property that is a string holds the digits of an integer. */
  readonly hasDigits?: true
  /** Of a 64-bit integer: what a property holds that is not declared as a bigint. */
  readonly inProperty?: 'string' | 'number'
  /** Of a part of a key: whether the message or the property has an integer as text. */
  readonly takesText?: true
  /** Of a part of a key: a type of its column that is not the one of its kind. */
  readonly stored?: StoredAs
  /**
   * Of a UUID in a table that another application writes: the column may hold it as text in another format,
   * by which alone the row is found. `written`: such text may be written too.
   */
  readonly otherFormats?: 'read' | 'written'
  /** The least and the most that its column or its property holds, where that is less than the kind. */
  readonly range?: Range
}

/** Types of columns that only keys, and what refers to them, have as they are declared. */
export type StoredAs = 'smallint' | 'binary(16)'

/**
 * A value as entities hold it: bigint for 64-bit integers and durations (nanoseconds), but the name for an
 * enum. A timestamp is a Date. In a cursor it can also be a bigint of microseconds, which a Date would cut,
 * or the database's text or number for a time outside of our range (`infinity`, years before 1000).
 */
export type PlanValue = string | number | bigint | boolean | Date | Uint8Array

/** A number as entities hold it. */
export type Amount = number | bigint

/** The least and the most that a field of the kind holds, as entities hold it. */
export type Range = readonly [number, number] | readonly [bigint, bigint]

/** What a column of a type holds. A column type of another family contradicts its field. */
export type Family = 'text' | 'integers' | 'fractions' | 'booleans' | 'times' | 'bytes' | 'objects'

/** How a field comes to be of a kind. */
export interface Declaration {
  /** Scalars of messages that it holds. */
  readonly scalars: readonly ScalarType[]
  /** The full name of the message that it holds. */
  readonly message?: string
  /** The kind of a message field that becomes this one where `@Column()` names a type of it. */
  readonly refines?: KindName
  /** Types that `@Column()` can name, on any database. */
  readonly columnTypes: readonly string[]
  /** What columns of these types hold, for people. */
  readonly holds: string
  readonly family: Family
  /** True if TypeORM is told that it is a text, because it has no type that it takes on every database. */
  readonly isToldAsText?: true
  /** True if a column type of another family holds it all the same. */
  readonly isHeldBy?: (family: Family, type: unknown) => boolean
  /** Classes of a property that say the kind where `@Column()` names no type. */
  readonly classes: readonly unknown[]
  /** The TypeScript type of a property, for people. */
  readonly property: (repeated: boolean) => string
  /** True if a property of that class can have its values. */
  readonly fits: (designType: unknown, repeated: boolean) => boolean
  /** True if a column of that type takes the option `length`. Default: none does. */
  readonly takesLength?: (type: unknown) => boolean
  /** The most characters of such a column. */
  readonly maxLength?: (options: ColumnOptions) => number | undefined
  /** True if the option `unsigned` says what the column is anyway. */
  readonly isUnsigned?: true
  /** The kind of the same columns without negative values. */
  readonly unsigned?: KindName
  /** The one value of the option `precision`, and why there is no other. */
  readonly precision?: readonly [digits: number, why: string]
}

/**
 * How TypeORM's own manager has to treat a column, so that it and a repository read what the other writes.
 */
export interface ManagedColumn {
  /**
   * The type that TypeORM is told in place of a declared one: for a class that it has no type for, and for a
   * type by which it would convert values in its own way. Undefined for a type that it may keep.
   */
  readonly type: (declared: unknown) => ColumnType | undefined
  /**
   * An entity's value as TypeORM takes it. Undefined where that is the value. @param type - that TypeORM is
   * told.
   */
  readonly to?: (value: unknown, field: Facets, type: unknown) => unknown
  /** A value as TypeORM read it, as the entity's. */
  readonly from?: (read: unknown, field: Facets, type: unknown) => unknown
}

/** What filters, orders and cursors do with a column. */
export interface PlanRules {
  /** A value of a filter. */
  readonly literal: (token: Literal, column: Facets) => PlanValue | Misfit
  /** True if it is text that a filter can look into, by `:`. */
  readonly isText: boolean
  /** True if a filter compares by `<` and `>`. */
  readonly hasOrder: boolean
  /** True if an order can name it. */
  readonly isSortable: boolean
  /** True if a filter names one of its keys. */
  readonly hasKeys: boolean
  /** True if a filter compares only what is inside of it. */
  readonly isNested: boolean
  /** As a field of a message that is stored as JSON. Undefined where it cannot be compared there. */
  readonly inside?: InsideJson
  /**
   * True if a value may have more characters or bytes. Where it may, only so many from the start count in an
   * order.
   */
  readonly exceeds: (most: number, column: Facets) => boolean
  /** An entity's value as plans compare it. Undefined where they compare it as it is. */
  readonly planValue?: (value: unknown, column: Facets) => PlanValue
  /**
   * True if a cursor can hold it: a checksum is not a signature, and a forged token must not make a statement
   * fail.
   */
  readonly isInCursor: (value: PlanValue) => boolean
  /** True if only a database can tell that a row of it can hold the value, which Ashlar does not write. */
  readonly isForeign?: (value: unknown) => boolean
}

/** What an increment adds to a field. */
export interface Increments {
  readonly range: Range
  /** The amount in the type of the field, or what is wrong with it. */
  readonly amount: (given: Amount) => Amount | string
}

/** What is wrong with a part of a value. */
export interface InsideProblem {
  /** Behind the field's name, such as `["a"]`. */
  readonly at: string
  readonly text: string
}

/** What can be compared of a field that is inside of the JSON of a message. */
export interface InsideJson {
  /** What JSON holds, as plans compare it; undefined for a value of another type. */
  readonly value: (json: unknown) => string | number | boolean | undefined
  /** What JSON leaves out. */
  readonly zero: (column: Facets) => string | number | boolean | undefined
}

/** Everything about one kind of column that is the same on all databases. */
export interface Kind extends PlanRules {
  readonly name: KindName
  readonly declared: Declaration

  /**
   * What is wrong with a value, as text that follows the field's name; undefined when every column of the
   * kind can hold it.
   */
  readonly problem: (value: unknown, field: Facets) => string | InsideProblem | undefined
  /** The proto3 value of an unset field; undefined where unset is not a value. */
  readonly zero: (field: Facets) => unknown
  /**
   * The same as a row holds it, for rows that are there before the column. Undefined where nothing is like
   * nothing.
   */
  readonly filler: (field: Facets) => string | number | boolean | undefined
  /** How increments add to it, or why they cannot. */
  readonly increments: Increments | string
  /** What a row gives back for a value that was written. Undefined where that is the value. */
  readonly kept?: (value: unknown) => unknown
  /** How its values are a part of a key. Undefined where they can be none. */
  readonly key?: KeyRules

  readonly managed: ManagedColumn

  /** Value of a message field → value of an entity. Undefined where it is the same. */
  readonly fromWire?: (value: unknown) => unknown
  /** Value of an entity → value of a message field. */
  readonly toWire?: (value: unknown) => unknown
  /** Value of an entity → proto3 JSON. Undefined where the JavaScript value says it all. */
  readonly toJson?: (value: unknown, field: Facets) => JsonValue

  /**
   * How the JSON of its column is read and written. Undefined where it holds none. @param ofMessage - as the
   * message has it.
   */
  readonly jsonColumn?: (ofMessage: JsonColumn | undefined) => JsonColumn
  /** True if a row holds it as text on every database. */
  readonly isStoredAsText: boolean
  /** True if its values have few bytes. */
  readonly isSmall: boolean
}
