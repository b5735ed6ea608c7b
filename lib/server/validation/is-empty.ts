import { type DescField, type Message, ScalarType } from '@bufbuild/protobuf'
import { getField } from '../../resource/messages/local-field.js'

/** `IMPLICIT` of google.protobuf.FeatureSet.FieldPresence. */
const IMPLICIT = 2

/**
 * Returns a test for a missing REQUIRED field (AIP-203). Missing means an unset message, optional field or
 * oneof member, an empty string, bytes, list or map, or an enum's 0. Undefined for a number or bool without
 * presence, which cannot be missing.
 */
export const isEmpty = (field: DescField): ((message: Message) => boolean) | undefined => {
  if (field.fieldKind === 'list') return (message) => (getField(message, field) as unknown[]).length === 0
  if (field.fieldKind === 'map')
    return (message) => Object.keys(getField(message, field) as object).length === 0
  if (field.fieldKind === 'message') return (message) => getField(message, field) === undefined
  const hasPresence = field.presence !== IMPLICIT
  const isZero = zeroOf(field)
  if (!hasPresence) return isZero && ((message) => isZero(getField(message, field)))
  return (message) => {
    // The message's prototype contains the defaults of the .proto.
    if (field.oneof === undefined && !Object.hasOwn(message, field.localName)) return true
    const value = getField(message, field)
    return value === undefined || isZero?.(value) === true
  }
}

const zeroOf = (field: DescField): ((value: unknown) => boolean) | undefined => {
  if (field.fieldKind === 'enum') return (value) => value === 0
  if (field.scalar === ScalarType.STRING) return (value) => value === ''
  if (field.scalar === ScalarType.BYTES) return (value) => (value as Uint8Array).length === 0
  return undefined
}
