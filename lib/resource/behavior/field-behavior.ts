import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf'
import { FieldBehavior, field_behavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { optionReader } from '../messages/option-reader.js'

const declaredBehaviors = optionReader((field: DescField): readonly FieldBehavior[] =>
  hasOption(field, field_behavior) ? getOption(field, field_behavior) : [],
)

/** True if the field is declared with that `google.api.field_behavior` (AIP-203). */
export const behaves = (field: DescField, behavior: keyof typeof FieldBehavior): boolean =>
  declaredBehaviors(field).includes(FieldBehavior[behavior])

/** True if no client sends the field, because the server sets it. */
export const isSetByServer = (field: DescField): boolean =>
  behaves(field, 'OUTPUT_ONLY') || behaves(field, 'IDENTIFIER')

/** True if the field never changes after the create. */
export const isImmutable = (field: DescField): boolean => behaves(field, 'IMMUTABLE')

/**
 * True if the message, or one that it can hold, has a field of which `is` holds. A google.protobuf.Any is not
 * looked into.
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
