import type { JsonValue, ScalarType } from '@bufbuild/protobuf'
import type { ColumnOptions, ColumnType } from 'typeorm'
import type { EnumNames } from '../enums/enum-names.js'
import type { Shape } from '../free-form/shape.js'
import type { KeyRules } from './key-rules.js'
import type { Literal, Misfit } from './literal.js'

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

/** JSON text of a column ↔ entity value. */
export interface JsonColumn {
  /** The shape of free-form JSON (`google.protobuf.Struct` and the like); undefined for any other. */
  readonly shape?: Shape
  /** @throws InvalidArgument when the value is not what the field holds. */
  readonly encode: (value: unknown) => string
  /** @throws Error for JSON that the field cannot hold. Null is an unset field. */
  readonly decode: (text: string) => unknown
}

/** The properties of a column that its kind uses: the length of a string, the names of an enum. */
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
  /** The full name of the message that the field holds, if its kind refines one. */
  readonly message?: string
  /** Of a decimal: its digits, and what the property and the message hold. */
  readonly decimal?: DecimalFacet
  /** The readers and writers of a JSON column. */
  readonly json?: JsonColumn
  /** The form of a property that does not hold the kind's own values. */
  readonly held?: HeldForm
  /** Of a list whose column does not hold JSON. */
  readonly list?: ListForm
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

/** A form of values that a property holds in place of the kind's own, such as a string for a time. */
export interface HeldForm {
  /** Follows "has to be". */
  readonly what: string
  readonly fromOwn: (own: unknown) => unknown
  /** Undefined for a value in another form. */
  readonly toOwn: (held: unknown) => unknown
}

/** The form of a list in its column. */
export interface ListForm {
  /** Text with commas between the elements, or an array where the engine has arrays. Else JSON. */
  readonly as: 'commas' | 'array'
  readonly element: Element
  /** Undefined if the property holds the elements as the message does. */
  readonly form: ElementForm | undefined
  readonly problem: (list: readonly unknown[]) => InsideProblem | undefined
}

/** An element of a list in a column. */
export type Element = Facets & { readonly kind: KindName }

/** Between an element of a property, the JSON of a column and the message. */
export interface ElementForm extends PropertyForm {
  readonly toJson: (held: unknown) => unknown
  /** Undefined for a value that the property cannot hold. */
  readonly fromJson: (stored: unknown) => unknown
}

/** The forms of a decimal in its column, its property and the field of its message. */
export interface DecimalFacet {
  /** Digits before and after the point; undefined if the column states none. */
  readonly precision: number | undefined
  /** Digits after the point; undefined for as many as are stored. */
  readonly scale: number | undefined
  readonly inProperty: 'string' | 'number'
  readonly inMessage: 'string' | 'number' | 'message'
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

/** The family of a column type's values. A column type of another family contradicts its field. */
export type Family =
  'text' | 'integers' | 'fractions' | 'decimals' | 'booleans' | 'times' | 'bytes' | 'objects'

/** The declarations that make a field one of a kind. */
export interface Declaration {
  /** Scalars of messages that it holds. */
  readonly scalars: readonly ScalarType[]
  /** The full name of the message that it holds. */
  readonly message?: string
  /** The kind of a message field that becomes this one where `@Column()` names a type of it. */
  readonly refines?: readonly KindName[]
  /** The full name of a message that becomes this kind where `@Column()` names a type of it. */
  readonly refinesMessage?: string
  /** True if a column of that type takes any `precision`. */
  readonly takesPrecision?: true
  /** Types that `@Column()` can name, on any database. */
  readonly columnTypes: readonly string[]
  /** A description of the values in columns of these types. */
  readonly holds: string
  readonly family: Family
  /** True if TypeORM has it as text, because it has no type for it that every database accepts. */
  readonly isDeclaredAsText?: true
  /** True if a column type of another family holds it all the same. */
  readonly isHeldBy?: (family: Family, type: unknown) => boolean
  /** Classes of a property that say the kind where `@Column()` names no type. */
  readonly classes: readonly unknown[]
  /** The TypeScript type of a property, for people. */
  readonly property: (repeated: boolean, shape?: Shape) => string
  /** The classes of properties that hold the values in another form. */
  readonly heldAs?: ReadonlyMap<unknown, HeldForm>
  /** True if a property of that class can have its values. */
  readonly fits: (designType: unknown, repeated: boolean, shape?: Shape) => boolean
  /** True if a column of that type takes the option `length`. Default: none does. */
  readonly takesLength?: (type: unknown) => boolean
  /** The most characters of such a column. */
  readonly maxLength?: (options: ColumnOptions) => number | undefined
  /** True if the option `unsigned` says what the column is anyway. */
  readonly isUnsigned?: true
  /** The kind of the same columns without negative values. */
  readonly unsigned?: KindName
  /** The only valid value of the option `precision`, and the reason. */
  readonly precision?: readonly [digits: number, why: string]
}

/**
 * The treatment of a column by TypeORM's own manager, so that it and a repository read each other's values.
 */
export interface ManagedColumn {
  /**
   * The type for TypeORM in place of a declared one: for a class for which it has no type, and for a type
   * whose values it would convert in its own way. Undefined if the declared type stays.
   */
  readonly type: (declared: unknown, field?: Facets) => ColumnType | undefined
  /**
   * Converts an entity's value for TypeORM. Undefined if no conversion is needed. @param type - as TypeORM
   * has it.
   */
  readonly to?: (value: unknown, field: Facets, type: unknown) => unknown
  /** A value as TypeORM read it, as the entity's. */
  readonly from?: (read: unknown, field: Facets, type: unknown) => unknown
}

/** The rules of filters, sort orders and cursors for a column. */
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
   * True if a value may have more characters or bytes. If so, only that many from the start count in a sort
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

/** The rules of increments for a field. */
export interface Increments {
  readonly range: Range
  /** The amount in the type of the field, or what is wrong with it. */
  readonly amount: (given: Amount) => Amount | string
}

/** A problem of a part of a value. */
export interface InsideProblem {
  /** Behind the field's name, such as `["a"]`. */
  readonly at: string
  readonly text: string
}

/** The comparison of a field inside a message's JSON. */
export interface InsideJson {
  /** The JSON value as plans compare it; undefined for a value of another type. */
  readonly value: (json: unknown) => string | number | boolean | undefined
  /** The value that JSON omits. */
  readonly zero: (column: Facets) => string | number | boolean | undefined
}

/** Between a property and the field of the message. */
export interface PropertyForm {
  readonly toWire: (value: unknown) => unknown
  /** A value that the property cannot hold is left as it is, so that its check can report it. */
  readonly fromWire: (value: unknown) => unknown
}

/** Everything about one kind of column that is the same on all databases. */
export interface Kind extends PlanRules {
  readonly name: KindName
  readonly declared: Declaration

  /**
   * The problem of a value, as text that follows the field's name; undefined if every column of the kind can
   * store it.
   */
  readonly problem: (value: unknown, field: Facets) => string | InsideProblem | undefined
  /** The proto3 value of an unset field; undefined where unset is not a value. */
  readonly zero: (field: Facets) => unknown
  /** The same as a row holds it, for existing rows of a new column. Undefined for a kind without one. */
  readonly filler: (field: Facets) => string | number | boolean | undefined
  /** The rules of its increments, or the reason why there are none. */
  readonly increments: Increments | string
  /** The value that a row returns for a written one. Undefined if it is the same. */
  readonly kept?: (value: unknown, field: Facets) => unknown
  /** The rules for its values as a part of a key. Undefined if they cannot be one. */
  readonly key?: KeyRules

  readonly managed: ManagedColumn

  /** Value of a message field → value of an entity. Undefined where it is the same. */
  readonly fromWire?: (value: unknown) => unknown
  /** Value of an entity → value of a message field. */
  readonly toWire?: (value: unknown) => unknown
  /**
   * The property's form of a value that the message has in another form. Undefined if both are the same.
   */
  readonly form?: (field: Facets) => PropertyForm | undefined
  /** Value of an entity → proto3 JSON. Undefined where the JavaScript value says it all. */
  readonly toJson?: (value: unknown, field: Facets) => JsonValue

  /**
   * The readers and writers of its JSON column. Undefined if it has none. @param ofMessage - as the message
   * has it.
   */
  readonly jsonColumn?: (ofMessage: JsonColumn | undefined, list?: ListForm) => JsonColumn
  /** A stored value that the message cannot hold, and the reason, as the log has them. */
  readonly unread?: (field: Facets) => readonly [what: string, why: string]
  /**
   * True if a column can contain a value that the message cannot hold, which a full update keeps where the
   * field is unset. Undefined if it cannot. @param isShared - true if other programs write the table.
   */
  readonly mayBeUnread?: (field: Facets, isShared: boolean) => boolean
  /** True if a row holds it as text on every database. */
  readonly isStoredAsText: boolean
  /** True if its values have few bytes. */
  readonly isSmall: boolean
}
