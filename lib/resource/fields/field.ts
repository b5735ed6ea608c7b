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

/** The kinds of column values. */
export type FieldKind = KindName

/** A column as a filter, an order or a cursor sees it. */
export interface Column {
  /** Name in the database. */
  readonly column: string
  readonly kind: FieldKind
  readonly nullable: boolean
  /** Its rows may hold NULL, which is read as the zero value. `nullable` is false then. */
  readonly nullIsZero?: true
  readonly enumNames?: EnumNames
  /** The most characters, for strings with a bounded column. */
  readonly maxLength?: number | undefined
  /** The collation of an existing table's column. Every comparison is by code point nevertheless. */
  readonly collation?: string
  /** The readers and writers of a JSON column. */
  readonly json?: JsonColumn
  /** Of a list: see `Facets`. */
  readonly list?: ListForm
  /** The position of the value in the column's JSON: a field of an embedded message. */
  readonly inside?: Inside
  /** Of an embedded message: its fields. */
  readonly members?: Members
  /** Of a part of a key: see `Facets`. */
  readonly hasDigits?: true
  readonly inProperty?: 'string' | 'number'
  readonly held?: HeldForm
  readonly message?: string
  readonly decimal?: DecimalFacet
  readonly takesText?: true
  readonly stored?: StoredAs
  readonly otherFormats?: 'read' | 'written'
  readonly range?: Range
  /** Of a list of scalars: what each of them is. */
  readonly elements?: Pick<Column, 'kind' | 'enumNames' | 'decimal'>
}

/** A place in the JSON of a column. */
export interface Inside {
  /** From the outermost message to the field, each a plain word. */
  readonly keys: readonly string[]
  /**
   * The value that the JSON omits if the message around it is set; undefined if its absence means that it is
   * unset.
   */
  readonly zero: string | number | boolean | undefined
  /** The keys of free-form JSON behind them, which a caller has named. */
  readonly path?: readonly string[]
}

/** The fields of an embedded message as a filter may name them. */
export interface Members {
  readonly names: readonly string[]
  /** By proto name: a column, why it cannot be filtered, or undefined for no field. */
  readonly of: (name: string) => Column | string | undefined
}

/**
 * Filterable proto field name → column: the specification's `<Msg>Columns`. A bare string is a column of
 * unknown type, so literals are bound as they are written.
 */
export type Columns = Readonly<Record<string, Column | string>>

/** Why a caller cannot write a field. */
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

/** One field of a resource: a property of the entity, a field of the message, a column of the table. */
export interface Field extends Column {
  /** Name in the entity, lowerCamelCase. */
  readonly property: string
  /** Name on the wire, snake_case. */
  readonly proto: string
  readonly role: Role
  /** Filter and order_by may name it. */
  readonly filterable: boolean
  /** An update mask may name it. */
  readonly writable: boolean
  /** True if it is in the message; false for properties that only the service knows. */
  readonly exposed: boolean
  /** The most characters, for strings with a bounded column. */
  readonly maxLength: number | undefined
  /** A part of the resource's name: no slash can be in it, and no mask of a client names it. */
  readonly inName?: boolean
  /** The value of an entity that is created without one. */
  readonly default?: FieldDefault
  /** For `json`: whether the message field is repeated. */
  readonly repeated: boolean
  /** True if TypeORM's manager lets the database generate the UUID, if the database can. */
  readonly isGeneratedByDatabase?: true
  /** The name that the column had before, for migrations. */
  readonly renamedFrom?: string
  /** The table sets it by itself: no statement writes it, and a write reads it back. */
  readonly generated?: true
  /** The SQL of a generated column that TypeORM knows. */
  readonly expression?: { readonly sql: string; readonly isStored: boolean }
  /** True for a key that the database generates, a number that no caller chooses. */
  readonly isIdentity?: true
  /** The conversions of its column's `transformer`. `kind` and the facets are the column's then. */
  readonly transformed?: Transformed
  /** The default that its table has, which an application declares in SQL. */
  readonly tableDefault?: { readonly sql: string } | { readonly constant: unknown } | 'now'
  /** A new row without a value leaves the column out, and the table fills it. */
  readonly isFilledByTable?: true
  /** No INSERT contains it (`insert: false`). */
  readonly isNotInserted?: true
  /** No UPDATE contains it (`update: false`). */
  readonly isNotUpdated?: true
  /** No response and no event contains it (`select: false`). */
  readonly isWithheld?: true
  /** The SQL that a table of MySQL sets it to at each update. */
  readonly onUpdate?: string
}

/** The properties of a field's values. */
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

/** A field without a column: a function computes it from the entity. */
export interface ComputedField extends ValueField {
  /** True if it is in the message. */
  readonly exposed: boolean
  /** @throws Internal where the function throws, or returns what the field cannot hold. */
  readonly valueOf: (entity: object) => unknown
}

export interface FieldDefault {
  /** Of `@Column({ default })`; undefined where a function makes it. */
  readonly constant: unknown
  /**
   * A value of its own for each entity. @throws TypeError where a function returned what the field cannot
   * hold.
   */
  readonly make: () => unknown
}
