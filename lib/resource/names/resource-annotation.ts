import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from '@bufbuild/protobuf'
import { resource } from 'ashlar-annotations/google/api/resource_pb.js'
import { fieldNamed } from '../messages/field-readers.js'
import { optionReader } from '../messages/option-reader.js'

/** The `google.api.resource` option of a message (AIP-123). */
export interface ResourceAnnotation {
  /** The resource type, such as `library.example.com/Book`. */
  readonly type: string
  readonly patterns: readonly string[]
  /** The field that contains the name; undefined if the message has none. */
  readonly field: DescField | undefined
  /** The name of that field, `name` by default. */
  readonly fieldName: string
  readonly singular: string
  readonly plural: string
}

/** Returns the annotation of a message; undefined if it has none. */
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

/** Returns true if the field can contain a name: a single string without presence. */
export const isText = (field: DescField): boolean =>
  field.fieldKind === 'scalar' &&
  field.scalar === ScalarType.STRING &&
  field.oneof === undefined &&
  field.proto.proto3Optional !== true
