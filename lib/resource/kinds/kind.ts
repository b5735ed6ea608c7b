import type { JsonValue, ScalarType } from '@bufbuild/protobuf'
import type { ColumnOptions, ColumnType } from 'typeorm'
import type { EnumNames } from '../enums/enum-names.js'
import type { Shape } from '../free-form/shape.js'
import type { KeyRules } from './key-rules.js'
import type { Literal, Misfit } from './literal.js'
import type { StoredLiteral } from './stored-literal.js'

/** The kinds of column values. `json` is a repeated or embedded field, `tags` a map<string, string>. */
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
  | 'decimal'
  | 'enum'
  | 'timestamp'
  | 'duration'
  | 'json'
  | 'tags'

/** The kinds that have their own SQL on each engine. The excluded ones are stored as another kind. */
export type EngineKind = Exclude<KindName, 'duration'>

/** Converts between a column's JSON string and an entity's value. */
export interface JsonColumn {
  /** The shape of free-form JSON such as `google.protobuf.Struct`; undefined for any other JSON. */
  readonly shape?: Shape
  /** @throws InvalidArgument if the field cannot hold the value. */
  readonly encode: (value: unknown) => string
  /**
   * Null means an unset field.
   * @throws Error if the field cannot hold the JSON.
   */
  readonly decode: (text: string) => unknown
}

/** The properties of a column that its kind uses, such as a string's length or an enum's names. */
export interface Facets {
  readonly enumNames?: EnumNames
  /** The maximum number of characters, for strings in a bounded column. */
  readonly maxLength?: number | undefined
  /**
   * Set for a string in an existing table if its declaration states no length. The engine then limits the
   * length, as when TypeORM created the column.
   */
  readonly hasEngineLength?: true
  /** For `json`: true if the message field is repeated. */
  readonly repeated?: boolean
  /** The full name of the field's message type, if the column's kind refines that message. */
  readonly message?: string
  /** For a decimal: its digits, and the types of the property and of the message field. */
  readonly decimal?: DecimalFacet
  /** The conversions of a JSON column. */
  readonly json?: JsonColumn
  /** The form of the property's values, if it is not the kind's own. */
  readonly held?: HeldForm
  /** The form of a list whose column does not contain JSON. */
  readonly list?: ListForm
  /** True if a string property contains the digits of an integer. */
  readonly hasDigits?: true
  /** For a 64-bit integer: the type of a property that is not a bigint. */
  readonly inProperty?: 'string' | 'number'
  /** For a key part: true if the message or the property represents an integer as a string. */
  readonly takesText?: true
  /** For a key part: the type of its column, if it is not the kind's own. */
  readonly stored?: StoredAs
  /**
   * For a UUID in a table that another application writes: the column may store it as a string in another
   * format, and the row is found only by that string. `written`: such strings may also be written.
   */
  readonly otherFormats?: 'read' | 'written'
  /** The range of its column or property, if it is smaller than the kind's. */
  readonly range?: Range
}

/** A form of values that a property holds instead of the kind's own, such as a string for a time. */
export interface HeldForm {
  /** Follows the words "has to be" in messages. */
  readonly what: string
  readonly fromOwn: (own: unknown) => unknown
  /** Returns undefined for a value in another form. */
  readonly toOwn: (held: unknown) => unknown
}

/** The form in which a column stores a list. */
export interface ListForm {
  /** A comma-separated string, or an array on engines that have arrays (JSON on others). */
  readonly as: 'commas' | 'array'
  readonly element: Element
  /** Undefined if property and message have the same form of elements. */
  readonly form: ElementForm | undefined
  readonly problem: (list: readonly unknown[]) => InsideProblem | undefined
}

/** An element of a list column. */
export type Element = Facets & { readonly kind: KindName }

/** Converts an element between the property, the column's JSON and the message. */
export interface ElementForm extends PropertyForm {
  readonly toJson: (held: unknown) => unknown
  /** Returns undefined for a value that the property cannot hold. */
  readonly fromJson: (stored: unknown) => unknown
}

/** The forms of a decimal in its column, its property and its message field. */
export interface DecimalFacet {
  /** The total number of digits; undefined if the column states none. */
  readonly precision: number | undefined
  /** The number of decimal places; undefined to keep all stored digits. */
  readonly scale: number | undefined
  readonly inProperty: 'string' | 'number'
  readonly inMessage: 'string' | 'number' | 'message'
}

/** Column types that only keys, and references to them, use as declared. */
export type StoredAs = 'smallint' | 'binary(16)'

/**
 * A value in the form that entities use: bigint for 64-bit integers and durations (nanoseconds), Date for
 * timestamps. An enum value is its name.
 */
export type EntityValue = string | number | bigint | boolean | Date | Uint8Array

/**
 * A value of a query. A timestamp in a cursor can also be a bigint of microseconds, which a Date would
 * truncate. For a time outside the supported range (`infinity`, years before 1000) it is the database's
 * string. Another stored value that the field cannot hold is a literal.
 */
export type PlanValue = EntityValue | StoredLiteral

/** A number in the form that entities use. @inline */
export type Amount = number | bigint

/** The minimum and maximum of a kind's values, in the form that entities use. */
export type Range = readonly [number, number] | readonly [bigint, bigint]

/** The family of a column type's values. A column type of another family contradicts its field. */
export type Family =
  'text' | 'integers' | 'fractions' | 'decimals' | 'booleans' | 'times' | 'bytes' | 'objects'

/** The declarations that give a field this kind. */
export interface Declaration {
  /** The message scalars that it stores. */
  readonly scalars: readonly ScalarType[]
  /** The full name of the message that it stores. */
  readonly message?: string
  /** The kinds of message fields that become this kind if `@Column()` names one of its types. */
  readonly refines?: readonly KindName[]
  /** The full name of a message whose fields become this kind if `@Column()` names one of its types. */
  readonly refinesMessage?: string
  /** True if its column types accept any `precision`. */
  readonly takesPrecision?: true
  /** The types that `@Column()` can name, on any database. */
  readonly columnTypes: readonly string[]
  /** A description of the values in columns of these types. */
  readonly holds: string
  readonly family: Family
  /**
   * True if TypeORM declares it as a text column, because TypeORM has no type for it that every database
   * accepts.
   */
  readonly isDeclaredAsText?: true
  /** True if a column type of another family can store it nevertheless. */
  readonly isHeldBy?: (family: Family, type: unknown) => boolean
  /** The property classes that imply the kind if `@Column()` names no type. */
  readonly classes: readonly unknown[]
  /** Returns the TypeScript type of a property, for messages. */
  readonly property: (repeated: boolean, shape?: Shape) => string
  /** The classes of properties that hold the values in another form. */
  readonly heldAs?: ReadonlyMap<unknown, HeldForm>
  /** True if a property of that class can hold its values. */
  readonly fits: (designType: unknown, repeated: boolean, shape?: Shape) => boolean
  /** True if a column of that type accepts the option `length`. Default: no type does. */
  readonly takesLength?: (type: unknown) => boolean
  /** Returns the maximum number of characters of such a column. */
  readonly maxLength?: (options: ColumnOptions) => number | undefined
  /** True if the column is unsigned even without the option `unsigned`. */
  readonly isUnsigned?: true
  /** The kind of the same columns if they are unsigned. */
  readonly unsigned?: KindName
  /** The only valid value of the option `precision`, and the reason. */
  readonly precision?: readonly [digits: number, why: string]
}

/**
 * The conversions of TypeORM's own manager for the column, so that it and a repository can read each other's
 * values.
 */
export interface ManagedColumn {
  /**
   * Returns the type that TypeORM uses instead of the declared one: for a class that TypeORM does not know,
   * or a type whose values it would convert differently. Undefined if the declared type remains.
   */
  readonly type: (declared: unknown, field?: Facets) => ColumnType | undefined
  /**
   * Converts an entity's value for TypeORM. Undefined if no conversion is needed.
   * @param type - the column's type in TypeORM.
   */
  readonly to?: (value: unknown, field: Facets, type: unknown) => unknown
  /** Converts a value that TypeORM has read to the entity's value. */
  readonly from?: (read: unknown, field: Facets, type: unknown) => unknown
}

/** The rules of filters, sort orders and cursors for a column. */
export interface PlanRules {
  /** Returns the value of a filter's literal. */
  readonly literal: (token: Literal, column: Facets) => EntityValue | Misfit
  /** True if a filter can search inside it with `:`. */
  readonly isText: boolean
  /** True if a filter can compare it with `<` and `>`. */
  readonly hasOrder: boolean
  /** True if `order_by` can name it. */
  readonly isSortable: boolean
  /** True if a filter can name one of its keys. */
  readonly hasKeys: boolean
  /** True if a filter can only compare the values inside it. */
  readonly isNested: boolean
  /**
   * Its comparison as a field of a message that is stored as JSON. Undefined if it cannot be compared there.
   */
  readonly inside?: InsideJson
  /**
   * True if a value may be longer than that many characters or bytes. If so, a sort order compares only that
   * many from the start.
   */
  readonly exceeds: (most: number, column: Facets) => boolean
  /** Converts an entity's value to the form that plans compare. Undefined if they are the same. */
  readonly planValue?: (value: unknown, column: Facets) => PlanValue
  /**
   * True if a cursor can contain it. A checksum is not a signature, so that a forged token must not make a
   * statement fail.
   */
  readonly isInCursor: (value: PlanValue) => boolean
  /** True for a value that Ashlar does not write and that only the database knows to be valid. */
  readonly isForeign?: (value: unknown) => boolean
}

/** The rules for incrementing a field. */
export interface Increments {
  readonly range: Range
  /** Returns the amount in the field's type, or the problem with it. */
  readonly amount: (given: Amount) => Amount | string
}

/** A problem with a part of a value. */
export interface InsideProblem {
  /** The path after the field's name, such as `["a"]`. */
  readonly at: string
  readonly text: string
}

/** The comparison of a field inside a message's JSON. */
export interface InsideJson {
  /** Returns the JSON value in the form that plans compare; undefined for a value of another type. */
  readonly value: (json: unknown) => string | number | boolean | undefined
  /** The value that JSON omits. */
  readonly zero: (column: Facets) => string | number | boolean | undefined
}

/** Converts between a property and the message field. */
export interface PropertyForm {
  readonly toWire: (value: unknown) => unknown
  /** Leaves a value that the property cannot hold unchanged, so that its check can report it. */
  readonly fromWire: (value: unknown) => unknown
}

/** Everything about one kind of column that is the same on all databases. */
export interface Kind extends PlanRules {
  readonly name: KindName
  /** The kind whose SQL it has on every engine. Undefined for an `EngineKind`. */
  readonly storedAs?: EngineKind
  readonly declared: Declaration

  /**
   * Returns the problem with a value, as words that follow the field's name; undefined if every column of the
   * kind can store it.
   */
  readonly problem: (value: unknown, field: Facets) => string | InsideProblem | undefined
  /** The proto3 value of an unset field; undefined if the kind has no such value. */
  readonly zero: (field: Facets) => unknown
  /** The value that existing rows get in a new column, in stored form. Undefined for a kind without one. */
  readonly filler: (field: Facets) => string | number | boolean | undefined
  /** The rules for its increments, or the reason why it has none. */
  readonly increments: Increments | string
  /** Returns the value that is read back for a written value. Undefined if they are the same. */
  readonly kept?: (value: unknown, field: Facets) => unknown
  /** The rules for its values as a key part. Undefined if they cannot be one. */
  readonly key?: KeyRules

  readonly managed: ManagedColumn

  /** Converts a message field's value to the entity's. Undefined if they are the same. */
  readonly fromWire?: (value: unknown) => unknown
  /** Converts an entity's value to the message field's. */
  readonly toWire?: (value: unknown) => unknown
  /** Returns the property's form if it differs from the message's. Undefined if both are the same. */
  readonly form?: (field: Facets) => PropertyForm | undefined
  /** Converts an entity's value to proto3 JSON. Undefined if the JavaScript value needs no conversion. */
  readonly toJson?: (value: unknown, field: Facets) => JsonValue

  /**
   * The conversions of its JSON column. Undefined if it has none.
   * @param ofMessage - the conversions of the message field.
   */
  readonly jsonColumn?: (ofMessage: JsonColumn | undefined, list?: ListForm) => JsonColumn
  /** Returns the log text for a stored value that the message cannot hold: what it is, and why. */
  readonly unread?: (field: Facets) => readonly [what: string, why: string]
  /**
   * True if a column can contain a value that the message cannot hold. A full update keeps such a value if
   * the field is unset. Undefined if the column cannot contain one.
   * @param isShared - true if other programs write the table.
   */
  readonly mayBeUnread?: (field: Facets, isShared: boolean) => boolean
  /** True if every database stores it as a string. */
  readonly isStoredAsText: boolean
  /** True if its values have few bytes. */
  readonly isSmall: boolean
}
