/** What a column can hold. `json` is anything repeated or embedded, `tags` a map<string, string>. */
export type FieldKind =
  | 'string'
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

/** What a column is to a filter, an order or a cursor. */
export interface Column {
  /** Name in the database. */
  readonly column: string
  readonly kind: FieldKind
  readonly nullable: boolean
  readonly enumNames?: EnumNames
  /** Characters, for strings whose column is bounded. */
  readonly maxLength?: number | undefined
}

/**
 * Filterable proto field name → column: the specification's `<Msg>Columns`. A bare string is a column whose type is
 * unknown, so that literals are bound as they are written.
 */
export type Columns = Readonly<Record<string, Column | string>>

/** Why a field is not written by a caller. */
export type Role =
  | 'key'
  | 'tenant'
  | 'etag'
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
  /** May be named in filter and order_by. */
  readonly filterable: boolean
  /** May be named in an update mask. */
  readonly writable: boolean
  /** Is in the message; false for properties only the service itself knows. */
  readonly exposed: boolean
  /** Characters, for strings whose column is bounded. */
  readonly maxLength: number | undefined
  /** For `json`: whether the message field is repeated. */
  readonly repeated: boolean
}
