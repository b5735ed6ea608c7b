import { type DescField, type DescMessage, isFieldSet, type Message, ScalarType } from '@bufbuild/protobuf'
import { canBeKey, keyRulesOf } from '../../../resource/keys/on-the-wire.js'
import { fieldNamed } from '../../../resource/messages/field-readers.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { valueOf } from '../../chain/method.js'

/**
 * The key that a request names, as the repository takes it. One that is not canonical stays as it is: no row
 * has it, and the repository says so. A repository of the server has keys of any type.
 */
export const repositoryKey = ({ keys }: ResourceModel, wire: unknown): string => {
  const text = String(wire as string | number | bigint)
  return (keys.keyOf(text) ?? text) as string
}

/** A key as a field of a request has it; undefined for a text that the field cannot hold. */
export const wireKey = (field: DescField, text: string): string | number | bigint | undefined =>
  field.scalar === ScalarType.STRING
    ? text
    : (keyRulesOf(field)?.parse(text, {}) as number | bigint | undefined)

/** The text of a key that a field of a message has; `''` where it has none. */
export const keyTextIn = (message: Message, field: DescField): string => {
  return isFieldSet(message, field) ? String(valueOf(message, field) as string | number | bigint) : ''
}

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
  if (field?.fieldKind !== kind || !canBeKey(field)) return undefined
  const isOfKey = fieldNamed(resource, twin)?.scalar === field.scalar
  return field.scalar === ScalarType.STRING || isOfKey ? field : undefined
}
