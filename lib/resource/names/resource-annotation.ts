import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from '@bufbuild/protobuf'
import { resource } from 'ashlar-annotations/google/api/resource_pb.js'
import { fieldNamed } from '../messages/field-readers.js'
import { optionReader } from '../messages/option-reader.js'

/** The `google.api.resource` option of a message (AIP-123). */
export interface ResourceAnnotation {
  /** Such as `library.example.com/Book`. */
  readonly type: string
  readonly patterns: readonly string[]
  /** The field that has the name; undefined where the message has none. */
  readonly field: DescField | undefined
  /** `name` where the annotation does not say otherwise. */
  readonly fieldName: string
  readonly singular: string
  readonly plural: string
}

/** The annotation of a message; undefined where it has none. */
export const resourceAnnotation = optionReader((message: DescMessage): ResourceAnnotation | undefined => {
  if (!hasOption(message, resource)) return undefined
  const { type, pattern, nameField, singular, plural } = getOption(message, resource)
  const fieldName = nameField === '' ? 'name' : nameField
  const kind = type.slice(type.lastIndexOf('/') + 1)
  return {
    type,
    patterns: pattern,
    field: fieldNamed(message, fieldName),
    fieldName,
    singular: singular === '' ? kind.charAt(0).toLowerCase() + kind.slice(1) : singular,
    plural,
  }
})

/** True if the field can hold a name: one string, without presence. */
export const isText = (field: DescField): boolean =>
  field.fieldKind === 'scalar' &&
  field.scalar === ScalarType.STRING &&
  field.oneof === undefined &&
  field.proto.proto3Optional !== true
