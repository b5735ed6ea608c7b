import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf'
import { FieldBehavior, field_behavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { optionReader } from '../messages/option-reader.js'

const declaredBehaviors = optionReader((field: DescField): readonly FieldBehavior[] =>
  hasOption(field, field_behavior) ? getOption(field, field_behavior) : [],
)

/** Returns true if the field is declared with that `google.api.field_behavior` (AIP-203). */
export const behaves = (field: DescField, behavior: keyof typeof FieldBehavior): boolean =>
  declaredBehaviors(field).includes(FieldBehavior[behavior])

/** Returns true if the server sets the field, so that clients never send it. */
export const isSetByServer = (field: DescField): boolean =>
  behaves(field, 'OUTPUT_ONLY') || behaves(field, 'IDENTIFIER')

/** Returns true if the field never changes after the create. */
export const isImmutable = (field: DescField): boolean => behaves(field, 'IMMUTABLE')

/**
 * Returns true if the message or a nested message has a field for which `is` returns true. The content of a
 * google.protobuf.Any is not searched.
 */
export const holdsField = (
  desc: DescMessage,
  is: (field: DescField) => boolean,
  seen = new Set<DescMessage>(),
): boolean => {
  if (seen.has(desc)) return false
  seen.add(desc)
  return desc.fields.some(
    (field) => is(field) || (field.message !== undefined && holdsField(field.message, is, seen)),
  )
}
