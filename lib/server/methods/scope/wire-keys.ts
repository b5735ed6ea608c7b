import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { fieldNamed } from '../../../resource/messages/field-readers.js'
import type { ResourceModel } from '../../../resource/resource-model.js'

/**
 * The key that a request names, as the repository takes it. One that is not canonical stays as it is: no row
 * has it, and the repository says so. A repository of the server has keys of any type.
 */
export const repositoryKey = ({ keys }: ResourceModel, wire: unknown): string => {
  const text = String(wire as string | number | bigint)
  return (keys.keyOf(text) ?? text) as string
}

/** A key as a field of a request has it; undefined for a text that the field cannot hold. */
export const wireKey = ({ scalar }: DescField, text: string): string | number | bigint | undefined => {
  if (scalar === ScalarType.STRING) return text
  if (!/^-?\d{1,20}$/.test(text)) return undefined
  return LONG.has(scalar) ? BigInt(text) : Number(text)
}

const LONG: ReadonlySet<unknown> = new Set([
  ...[ScalarType.INT64, ScalarType.SINT64, ScalarType.SFIXED64],
  ...[ScalarType.UINT64, ScalarType.FIXED64],
])

const INTEGERS: ReadonlySet<unknown> = new Set([
  ...LONG,
  ...[ScalarType.INT32, ScalarType.SINT32, ScalarType.SFIXED32],
  ...[ScalarType.UINT32, ScalarType.FIXED32],
])

/**
 * The field of a request that holds keys: a string, or the integer that the resource has there. Undefined for
 * any other.
 * @param twin - the name of the field of the resource.
 */
export const keyNamed = (
  input: DescMessage,
  name: string,
  kind: 'scalar' | 'list',
  resource: DescMessage,
  twin: string,
): DescField | undefined => {
  const field = fieldNamed(input, name)
  if (field?.fieldKind !== kind || field.scalar === undefined || field.oneof !== undefined) return undefined
  const isOfKey = INTEGERS.has(field.scalar) && fieldNamed(resource, twin)?.scalar === field.scalar
  return field.scalar === ScalarType.STRING || isOfKey ? field : undefined
}
