import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { isWrapperDesc } from '@bufbuild/protobuf/wkt'
import type { Shape } from '../free-form/shape.js'
import { json, tags } from './json.js'
import type { Kind, KindName } from './kind.js'
import { kindOf, KINDS } from './kinds.js'
import { ENUM_TYPES, enumeration } from './text.js'

const ALL = Object.values(KINDS)

/** Maps every entry of a list in the kinds' declarations to its kind. */
const by = <T>(listed: (kind: Kind) => readonly T[]): ReadonlyMap<T, Kind> =>
  new Map(ALL.flatMap((kind) => listed(kind).map((one) => [one, kind] as const)))

const BY_SCALAR = by(({ declared }) => declared.scalars)
const BY_MESSAGE = by(({ declared }) => (declared.message === undefined ? [] : [declared.message]))
const BY_COLUMN_TYPE = by(({ declared }) => declared.columnTypes)
const BY_CLASS = by(({ declared }) => declared.classes)

/** Message types that a column cannot store and return unchanged. */
const UNSTORABLE = new Set(['google.protobuf.Any'])

/** Returns the kind that stores a message field, or why it cannot be stored. */
export function kindOfMessageField(field: DescField): KindName | { readonly problem: string } {
  const problem = field.message === undefined ? undefined : unstorable(field.message, new Set())
  if (problem !== undefined) return { problem }
  if (field.fieldKind === 'map')
    return field.mapKind === 'scalar' &&
      field.scalar === ScalarType.STRING &&
      field.mapKey === ScalarType.STRING
      ? tags.name
      : json.name
  if (field.fieldKind === 'list') return json.name
  if (field.fieldKind === 'enum') return enumeration.name
  if (field.fieldKind === 'scalar') return kindOfScalar(field.scalar)
  const wrapped = wrappedScalar(field)
  if (wrapped !== undefined) return kindOfScalar(wrapped)
  return kindOfMessage(field.message)?.name ?? json.name
}

/** Returns the scalar inside a field's wrapper message, such as google.protobuf.StringValue. */
export const wrappedScalar = (field: DescField): ScalarType | undefined =>
  field.fieldKind === 'message' && isWrapperDesc(field.message) ? field.message.fields[0].scalar : undefined

/** Returns the kind of a message's scalar. */
export const kindOfScalar = (scalar: ScalarType): KindName => (BY_SCALAR.get(scalar) as Kind).name

/** Returns the kind of a message that a column does not store as JSON. */
export const kindOfMessage = (message: DescMessage | undefined): Kind | undefined =>
  message && BY_MESSAGE.get(message.typeName)

/** Returns why a message, including its nested messages, cannot be stored as the JSON of its fields. */
function unstorable(message: DescMessage, seen: Set<string>): string | undefined {
  if (seen.has(message.typeName)) return undefined
  seen.add(message.typeName)
  if (UNSTORABLE.has(message.typeName))
    return `is a ${message.typeName}, which cannot be stored: compute it with @Computed(), or remove it from the message`
  if (message.typeName.startsWith('google.protobuf.')) return undefined
  for (const field of message.fields) {
    const problem = field.message === undefined ? undefined : unstorable(field.message, seen)
    if (problem !== undefined) return `holds ${field.name} of ${message.typeName}, which ${problem}`
  }
  return undefined
}

/**
 * Returns the kind for a column's type; undefined for a type that cannot be stored. A text column whose
 * property is a Uint8Array stores bytes, because TypeORM has no byte type that every database accepts.
 */
export function kindOfColumn(type: unknown, designType: unknown): KindName | undefined {
  const kind = typeof type === 'string' ? BY_COLUMN_TYPE.get(type) : BY_CLASS.get(type)
  const declared = BY_CLASS.get(designType)
  const isHeld = kind !== undefined && declared?.declared.isHeldBy?.(kind.declared.family, type) === true
  return (isHeld ? declared : kind)?.name
}

/**
 * Returns the class of a property: the design type that TypeScript emits, or the class in `@Column({ type:
 * String })`. Undefined if there is neither.
 * @param type - the `type` of `@Column()`. Undefined if TypeORM has set the type itself, because it sets
 * Number for every generated number.
 */
export const declaredClass = (designType: unknown, type: unknown): unknown =>
  designType ?? (typeof type === 'function' ? type : undefined)

/** The declaration of a property. */
export interface DeclaredProperty {
  readonly isTags: boolean
  /** The `type` of `@Column()`. */
  readonly type: unknown
  /** See `declaredClass`. */
  readonly designType: unknown
  readonly inMessage: DescField | undefined
  /**
   * True if it is a part of the key or of a reference to another resource. Its column then decides the kind.
   */
  readonly isKeyPart?: boolean
  /** The `unsigned` of `@Column()`. */
  readonly isUnsigned?: boolean
  /** The `array` of `@Column()`. */
  readonly isArray?: boolean | undefined
}

/** Returns the kind of a property with a column; undefined if its type cannot be stored. */
export function kindOfProperty(
  declared: DeclaredProperty,
): KindName | { readonly problem: string } | undefined {
  const { isTags, type, designType, inMessage } = declared
  const said = inMessage === undefined ? undefined : kindOfMessageField(inMessage)
  if (isTags)
    return said === undefined || said === tags.name
      ? tags.name
      : { problem: 'is declared with @Tags but is not a map<string, string> in the message' }
  if (typeof said === 'object') return said
  if (declared.isArray === true) return kindOfArray(declared)
  const part = declared.isKeyPart === true ? kindOfKeyPart(declared, said) : undefined
  if (part !== undefined) return part
  // A class here is TypeScript's inferred type, which the entity did not declare. The message is more
  // precise.
  if (said !== undefined && typeof type === 'function') return said
  // Only a message defines the values of an enum.
  if (ENUM_TYPES.has(type)) return said === enumeration.name ? said : undefined
  const kind = kindOfColumn(type, designType)
  if (kind === undefined || said === undefined) return kind
  return isOfMessage(inMessage, kindOf({ kind }).declared.refinesMessage) ? kind : refined(kind, said)
}

/**
 * Returns the column's kind if it is more specific than the message's kind, and the message's kind otherwise.
 */
export const refined = (kind: KindName, said: KindName): KindName =>
  kindOf({ kind }).declared.refines?.includes(said) === true ? kind : said

/** Returns the kind of an array column. */
function kindOfArray({ type, inMessage }: DeclaredProperty): KindName | { readonly problem: string } {
  if (inMessage !== undefined && inMessage.fieldKind !== 'list')
    return { problem: 'is an array in its column, but its field is not repeated' }
  if (typeof type !== 'string')
    return {
      problem: "is an array whose column states no type: write it, as in @Column('text', { array: true })",
    }
  return elementKindOf(inMessage, type) === undefined
    ? { problem: `is an array of ${type}, which cannot hold the elements of its field` }
    : json.name
}

/** Returns the kind of the elements in an array column of that type; undefined if no array can store them. */
export function elementKindOf(inMessage: DescField | undefined, type: unknown): KindName | undefined {
  const said = kindInList(inMessage)
  if (inMessage !== undefined && said === undefined) return undefined
  if (ENUM_TYPES.has(type)) return said === enumeration.name ? said : undefined
  const kind = typeof type === 'string' ? kindOfColumn(type, undefined) : undefined
  if (kind === undefined) return undefined
  const found = said === undefined ? kind : refined(kind, said)
  const { family } = kindOf({ kind }).declared
  return family !== 'objects' && kindOf({ kind: found }).declared.family === family ? found : undefined
}

/** Returns the kind of a list's elements in the message. */
export const kindInList = (inMessage: DescField | undefined): KindName | undefined => {
  if (inMessage?.fieldKind !== 'list') return undefined
  if (inMessage.listKind === 'enum') return enumeration.name
  return inMessage.listKind === 'scalar'
    ? kindOfScalar(inMessage.scalar)
    : kindOfMessage(inMessage.message)?.name
}

/** True if a field contains one message of that name. */
const isOfMessage = (field: DescField | undefined, name: string | undefined): boolean =>
  field?.fieldKind === 'message' && field.message.typeName === name

/**
 * Returns the kind of a key part. The column decides it, because the message may represent an integer or a
 * UUID as a string. Undefined if the column is no more specific than the message.
 */
function kindOfKeyPart(
  { type, designType, isUnsigned = false }: DeclaredProperty,
  said: KindName | undefined,
): KindName | undefined {
  const kind = kindOfColumn(type, designType)
  const named = typeof type === 'string'
  if (kind === undefined || kindOf({ kind }).key === undefined) return undefined
  const ofMessage = said && kindOf({ kind: said })
  if (ofMessage?.key === undefined && ofMessage !== undefined) return undefined
  // A string cannot be an integer of the message. If only a class is declared, the message knows the width.
  const { family, unsigned } = kindOf({ kind }).declared
  if (ofMessage !== undefined && ofMessage.declared.family !== 'text' && (family === 'text' || !named))
    return undefined
  return unsigned !== undefined && (isUnsigned || ofMessage?.declared.isUnsigned === true) ? unsigned : kind
}

/** Returns the storable column types of each kind, for error messages. */
export const storableTypes = (): string =>
  ALL.filter(({ declared }) => declared.columnTypes.length > 0)
    .map(({ declared }) => `${declared.holds} (${declared.columnTypes.join(', ')})`)
    .join(', ')

/**
 * Returns the TypeScript type that the property should have; undefined if its type fits the kind. `Object`,
 * which TypeScript reports for unions and interfaces, fits every kind.
 */
export function expectedType(
  kind: KindName,
  designType: unknown,
  repeated: boolean,
  shape?: Shape,
): string | undefined {
  if (designType === undefined || designType === Object) return undefined
  const { fits, property } = kindOf({ kind }).declared
  return fits(designType, repeated, shape) ? undefined : property(repeated, shape)
}
