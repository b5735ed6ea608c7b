import { type DescField, type DescMessage, isFieldSet, type Message, ScalarType } from '@bufbuild/protobuf'
import { canBeKey, keyRulesOf } from '../../../resource/keys/on-the-wire.js'
import { fieldNamed } from '../../../resource/messages/field-readers.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { valueOf } from '../../chain/method.js'

/**
 * Converts the key in a request for the repository. A key that is not in canonical form is passed unchanged:
 * no row has it, and the repository reports that.
 */
export const repositoryKey = ({ keys }: ResourceModel, wire: unknown): string => {
  const text = String(wire as string | number | bigint)
  return (keys.keyOf(text) ?? text) as string
}

/** Converts a key to the type of a request field; undefined if the field cannot contain it. */
export const wireKey = (field: DescField, text: string): string | number | bigint | undefined =>
  field.scalar === ScalarType.STRING
    ? text
    : (keyRulesOf(field)?.parse(text, {}) as number | bigint | undefined)

/** Returns the key in a message field as a string; `''` if it is unset. */
export const keyTextIn = (message: Message, field: DescField): string => {
  return isFieldSet(message, field) ? String(valueOf(message, field) as string | number | bigint) : ''
}

/**
 * Finds the request field that contains keys: a string field, or an integer field if the resource's field is
 * an integer. Undefined if there is none.
 * @param twin - the name of the resource's field.
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
