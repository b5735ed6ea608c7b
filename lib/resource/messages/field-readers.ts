import { type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import { getField, isUnwrapped, type Local } from './local-field.js'

/** Reads one value from a message. */
export type Reader<T> = (message: Message) => T

/** Returns the field with that proto name. */
export const fieldNamed = (message: DescMessage, name: string): DescField | undefined =>
  message.fields.find((field) => field.name === name)

/**
 * Returns a reader for a field that a request must have, such as the key of a Get or the resource of an
 * Update.
 * @param named - the name of the field in the error.
 */
export const requiredIn = <T>({ localName, name }: DescField, named = name): Reader<T> => {
  return (message) => {
    const value = (message as Local)[localName]
    if (value === undefined || value === '') throw new InvalidArgument(named, 'is required')
    return value as T
  }
}

/** Returns a reader for a string field, wrapped or not; undefined if the message has no such field. */
export const stringReader = (message: DescMessage, name: string): Reader<string> | undefined => {
  const field = holding(message, name, ScalarType.STRING, 'google.protobuf.StringValue')
  if (field === undefined) return undefined
  const { localName } = field
  return field.oneof === undefined
    ? (value) => ((value as Local)[localName] as string | undefined) ?? ''
    : (value) => (getField(value, field) as string | undefined) ?? ''
}

/** Returns a reader for a bool field, wrapped or not; undefined if the message has no such field. */
export const boolReader = (message: DescMessage, name: string): Reader<boolean> | undefined => {
  const field = holding(message, name, ScalarType.BOOL, 'google.protobuf.BoolValue')
  return field && ((value) => getField(value, field) === true)
}

/** Returns a reader for a mask, which is a FieldMask or a repeated string. */
export const maskReader = (message: DescMessage, name: string): Reader<readonly string[]> | undefined => {
  const field = fieldNamed(message, name)
  if (field === undefined) return undefined
  const { localName } = field
  if (isStrings(field)) return (value) => (value as Local)[localName] as readonly string[]
  if (field.fieldKind !== 'message' || field.message.typeName !== 'google.protobuf.FieldMask')
    return undefined
  return (value) => ((value as Local)[localName] as { paths: readonly string[] } | undefined)?.paths ?? []
}

const isStrings = (field: DescField): boolean =>
  field.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.STRING

const holding = (
  message: DescMessage,
  name: string,
  scalar: ScalarType,
  wrapper: string,
): DescField | undefined => {
  const field = fieldNamed(message, name)
  if (field?.fieldKind === 'scalar') return field.scalar === scalar ? field : undefined
  return field !== undefined && isUnwrapped(field) && field.message.typeName === wrapper ? field : undefined
}
