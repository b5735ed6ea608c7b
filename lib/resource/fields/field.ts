import type { EnumNames } from '../enums/enum-names.js'
import type {
  DecimalFacet,
  HeldForm,
  JsonColumn,
  KindName,
  ListForm,
  Range,
  StoredAs,
} from '../kinds/kind.js'
import type { Transformed } from './transformed.js'

/** A column as filters, sort orders and cursors use it. */
export interface Column {
  /** The name in the database. */
  readonly column: string
  readonly kind: KindName
  readonly nullable: boolean
  /**
   * Present if rows may contain NULL, which is read as the zero value. `nullable` is then false.
   * @internal
   */
  readonly nullIsZero?: true
  /** @internal */
  readonly enumNames?: EnumNames
  /** The maximum length in characters, for strings in a bounded column. */
  readonly maxLength?: number | undefined
  /** The collation of an existing table's column. Comparisons are by code point nevertheless. */
  readonly collation?: string
  /** The readers and writers of a JSON column. @internal */
  readonly json?: JsonColumn
  /** The form of a list; see `Facets`. @internal */
  readonly list?: ListForm
  /** For a field of an embedded message: its position in the column's JSON. @internal */
  readonly inside?: Inside
  /** For an embedded message: its fields. @internal */
  readonly members?: Members
  /** For a key part; see `Facets`. @internal */
  readonly hasDigits?: true
  /** @internal */
  readonly inProperty?: 'string' | 'number'
  /** @internal */
  readonly held?: HeldForm
  /** @internal */
  readonly message?: string
  /** @internal */
  readonly decimal?: DecimalFacet
  /** @internal */
  readonly takesText?: true
  /** @internal */
  readonly stored?: StoredAs
  /** @internal */
  readonly otherFormats?: 'read' | 'written'
  /** @internal */
  readonly range?: Range
  /** For a list of scalars: the type of its elements. @internal */
  readonly elements?: Pick<Column, 'kind' | 'enumNames' | 'decimal'>
}

/** A position in a column's JSON. */
export interface Inside {
  /** The keys from the outermost message to the field. Each is a plain word. */
  readonly keys: readonly string[]
  /**
   * The value that the JSON omits although its message is set; undefined if a missing value means that the
   * field is unset.
   */
  readonly zero: string | number | boolean | undefined
  /** The further keys in free-form JSON that a caller has named. */
  readonly path?: readonly string[]
}

/** The fields of an embedded message that a filter may name. */
export interface Members {
  readonly names: readonly string[]
  /**
   * Returns the column of a field by proto name, the reason why it cannot be filtered, or undefined if there
   * is no such field.
   */
  readonly of: (name: string) => Column | string | undefined
}

/**
 * Maps a filterable proto field to its column. This is the specification's `<Msg>Columns`. A plain string is
 * a column of unknown type, whose literals are bound unchanged.
 */
export type Columns = Readonly<Record<string, Column | string>>

/** The role of a field, which determines whether a caller can write it. @inline */
export type Role =
  | 'key'
  | 'tenant'
  | 'etag'
  | 'version'
  | 'createTime'
  | 'updateTime'
  | 'deleteTime'
  | 'expireTime'
  | 'outputOnly'
  | 'secret'
  | 'credential'
  | 'plain'

/** A resource field: a property of the entity, a field of the message and a column of the table. */
export interface Field extends Column {
  /** The name in the entity, in lowerCamelCase. */
  readonly property: string
  /** The name in messages, in snake_case. */
  readonly proto: string
  readonly role: Role
  /** True if filters and `order_by` may name it. */
  readonly filterable: boolean
  /** True if an update mask may name it. */
  readonly writable: boolean
  /** True if it is in the message. False for properties that are internal to the service. */
  readonly exposed: boolean
  /** The maximum length in characters, for strings in a bounded column. */
  readonly maxLength: number | undefined
  /**
   * True for a part of the resource's name. It cannot contain a slash, and a client's mask cannot name it.
   * @internal
   */
  readonly inName?: boolean
  /** The value that a new entity receives if none is given. @internal */
  readonly default?: FieldDefault
  /** For the kind `json`: true if the message field is repeated. */
  readonly repeated: boolean
  /** Present if TypeORM's manager lets the database generate the UUID where it can. @internal */
  readonly isGeneratedByDatabase?: true
  /** The column's previous name, for migrations. */
  readonly renamedFrom?: string
  /** Present if the table generates the value. No statement writes it, and each write reads it back. */
  readonly generated?: true
  /** The SQL of a generated column that TypeORM declares. @internal */
  readonly expression?: { readonly sql: string; readonly isStored: boolean }
  /** Present for a key that the database generates, a number that no caller chooses. */
  readonly isIdentity?: true
  /**
   * The conversions of the column's `transformer`. `kind` and the facets then describe the column.
   * @internal
   */
  readonly transformed?: Transformed
  /** The column's default in the table, which an application declares in SQL. @internal */
  readonly tableDefault?: { readonly sql: string } | { readonly constant: unknown } | 'now'
  /** Present if the INSERT of a row without a value omits the column, so that the table sets it. @internal */
  readonly isFilledByTable?: true
  /** Present if no INSERT contains it (`insert: false`). @internal */
  readonly isNotInserted?: true
  /** Present if no UPDATE contains it (`update: false`). @internal */
  readonly isNotUpdated?: true
  /** Present if responses and events omit it (`select: false`). @internal */
  readonly isWithheld?: true
  /** The SQL expression to which MySQL sets the column at each update. @internal */
  readonly onUpdate?: string
}

/** The part of a field that describes its values. */
export type ValueField = Pick<
  Field,
  | ('property' | 'proto' | 'kind' | 'nullable' | 'enumNames' | 'maxLength' | 'repeated' | 'inName')
  | (
      | 'hasDigits'
      | 'held'
      | 'message'
      | 'list'
      | 'inProperty'
      | 'decimal'
      | 'takesText'
      | 'stored'
      | 'range'
      | 'otherFormats'
    )
  | 'transformed'
>

/** A field without a column, which a function computes from the entity. */
export interface ComputedField extends ValueField {
  /** True if it is in the message. */
  readonly exposed: boolean
  /**
   * Computes the value.
   * @throws Internal if the function throws or returns a value that the field cannot contain.
   */
  readonly valueOf: (entity: object) => unknown
}

export interface FieldDefault {
  /** The constant in `@Column({ default })`; undefined if a function returns the default. */
  readonly constant: unknown
  /**
   * Returns a separate value for each entity.
   * @throws TypeError if a function returned a value that the field cannot contain.
   */
  readonly make: () => unknown
}
