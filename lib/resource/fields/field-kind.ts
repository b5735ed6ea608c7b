import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf'
import { isWrapperDesc } from '@bufbuild/protobuf/wkt'
import type { FieldKind } from './field.js'

const SCALARS: Readonly<Record<ScalarType, FieldKind>> = {
  [ScalarType.DOUBLE]: 'double',
  [ScalarType.FLOAT]: 'float',
  [ScalarType.INT64]: 'int64',
  [ScalarType.SINT64]: 'int64',
  [ScalarType.SFIXED64]: 'int64',
  [ScalarType.UINT64]: 'uint64',
  [ScalarType.FIXED64]: 'uint64',
  [ScalarType.INT32]: 'int32',
  [ScalarType.SINT32]: 'int32',
  [ScalarType.SFIXED32]: 'int32',
  [ScalarType.UINT32]: 'uint32',
  [ScalarType.FIXED32]: 'uint32',
  [ScalarType.BOOL]: 'bool',
  [ScalarType.STRING]: 'string',
  [ScalarType.BYTES]: 'bytes',
}

/** Well-known types whose JSON form is not an object of fields, so that a column could not restore them. */
const UNSTORABLE = new Set(
  ['Any', 'FieldMask', 'Struct', 'Value', 'ListValue', 'Empty'].map((name) => `google.protobuf.${name}`),
)

/** The kind that stores a message field, or why it cannot be stored. */
export function kindOfMessageField(field: DescField): FieldKind | { readonly problem: string } {
  if (field.oneof !== undefined) return { problem: `is in the oneof ${field.oneof.name}, ${NO_ONEOF}` }
  const problem = field.message === undefined ? undefined : unstorable(field.message, new Set())
  if (problem !== undefined) return { problem }
  if (field.fieldKind === 'map')
    return field.mapKind === 'scalar' &&
      field.scalar === ScalarType.STRING &&
      field.mapKey === ScalarType.STRING
      ? 'tags'
      : 'json'
  if (field.fieldKind === 'list') return 'json'
  if (field.fieldKind === 'enum') return 'enum'
  if (field.fieldKind === 'scalar') return SCALARS[field.scalar]
  if (field.message.typeName === 'google.protobuf.Timestamp') return 'timestamp'
  return field.message.typeName === 'google.protobuf.Duration' ? 'duration' : 'json'
}

export const NO_ONEOF = 'which no column can hold: make its members optional fields'

/** Why a message cannot be stored as the JSON of its fields. Nested messages are checked too. */
function unstorable(message: DescMessage, seen: Set<string>): string | undefined {
  if (seen.has(message.typeName)) return undefined
  seen.add(message.typeName)
  if (UNSTORABLE.has(message.typeName)) return `is a ${message.typeName}, which cannot be stored`
  if (isWrapperDesc(message)) return 'is a wrapper message: write `optional` in the .proto instead'
  if (message.typeName.startsWith('google.protobuf.')) return undefined
  for (const field of message.fields) {
    if (field.oneof !== undefined)
      return `holds ${field.name} of ${message.typeName} in the oneof ${field.oneof.name}, ${NO_ONEOF}`
    const problem = field.message === undefined ? undefined : unstorable(field.message, seen)
    if (problem !== undefined) return `holds ${field.name} of ${message.typeName}, which ${problem}`
  }
  return undefined
}

const BY_TYPE_NAME: Readonly<Record<string, FieldKind>> = {
  ...of('string', 'varchar', 'text', 'char', 'character varying', 'mediumtext', 'longtext'),
  ...of('int32', 'int', 'integer', 'int4', 'smallint', 'int2', 'mediumint', 'tinyint'),
  ...of('int64', 'bigint', 'int8'),
  ...of('float', 'real', 'float4'),
  ...of('double', 'double', 'double precision', 'float', 'float8'),
  ...of('bool', 'boolean', 'bool'),
  ...of(
    'timestamp',
    'timestamp',
    'timestamptz',
    'timestamp with time zone',
    'timestamp without time zone',
    'datetime',
  ),
  ...of('bytes', 'bytea', 'blob', 'mediumblob', 'longblob', 'varbinary'),
  ...of('json', 'json', 'jsonb', 'simple-json', 'simple-array'),
}

function of(kind: FieldKind, ...names: string[]): Record<string, FieldKind> {
  return Object.fromEntries(names.map((name) => [name, kind]))
}

const BY_CLASS = new Map<unknown, FieldKind>([
  [String, 'string'],
  [Number, 'int32'],
  [BigInt, 'int64'],
  [Boolean, 'bool'],
  [Date, 'timestamp'],
  [Uint8Array, 'bytes'],
  [Buffer, 'bytes'],
])

/**
 * The kind of a column by its type; undefined for a type that cannot be stored. A text column of a Uint8Array holds
 * bytes, because TypeORM accepts no byte type on every database.
 */
export const kindOfColumn = (type: unknown, designType: unknown): FieldKind | undefined => {
  const kind =
    typeof type !== 'string'
      ? BY_CLASS.get(type)
      : Object.hasOwn(BY_TYPE_NAME, type)
        ? BY_TYPE_NAME[type]
        : undefined
  return kind === 'string' && BY_CLASS.get(designType) === 'bytes' ? 'bytes' : kind
}

/** Every storable column type, by kind. */
export const storableTypes = (): string => {
  const kinds = [...new Set(Object.values(BY_TYPE_NAME))]
  return kinds.map((kind) => `${HOLDS[kind] ?? kind} (${typesOf(kind).join(', ')})`).join(', ')
}

const typesOf = (kind: FieldKind): string[] =>
  Object.entries(BY_TYPE_NAME).flatMap(([name, of]) => (of === kind ? [name] : []))

const HOLDS: Readonly<Partial<Record<FieldKind, string>>> = {
  int32: 'number',
  int64: 'bigint',
  float: 'fractions of 32 bits',
  double: 'fractions of 64 bits',
  bool: 'boolean',
  timestamp: 'Date',
  bytes: 'Uint8Array',
  json: 'arrays and objects',
}

interface TypeScriptType {
  readonly text: string
  readonly classes: readonly unknown[]
}

const TYPES: Readonly<Record<FieldKind, TypeScriptType>> = {
  string: { text: 'string', classes: [String] },
  bytes: { text: 'Uint8Array', classes: [Uint8Array] },
  bool: { text: 'boolean', classes: [Boolean] },
  int32: { text: 'number', classes: [Number] },
  uint32: { text: 'number', classes: [Number] },
  int64: { text: 'bigint', classes: [BigInt] },
  uint64: { text: 'bigint', classes: [BigInt] },
  float: { text: 'number', classes: [Number] },
  double: { text: 'number', classes: [Number] },
  enum: { text: 'number (a numeric enum)', classes: [Number] },
  timestamp: { text: 'Date', classes: [Date] },
  duration: { text: 'bigint (nanoseconds)', classes: [BigInt] },
  json: { text: 'an array or an object', classes: [] },
  tags: { text: 'Record<string, string>', classes: [] },
}

const PRIMITIVES = new Set<unknown>([String, Number, BigInt, Boolean, Date])

/**
 * The TypeScript type that the property should have, or undefined when its type fits the kind. `Object` is what
 * TypeScript reports for unions and interfaces; it fits everything.
 */
export function expectedType(kind: FieldKind, designType: unknown, repeated: boolean): string | undefined {
  if (designType === undefined || designType === Object) return undefined
  const { text, classes } = TYPES[kind]
  if (kind === 'json' || kind === 'tags') {
    const fits = repeated ? designType === Array : designType !== Array && !PRIMITIVES.has(designType)
    return fits ? undefined : repeated ? 'an array' : text
  }
  return classes.includes(designType) ? undefined : text
}
