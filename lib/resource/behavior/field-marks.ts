import { type DescField, getOption, hasOption } from '@bufbuild/protobuf'
import { field as fieldOption } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { isGoSecret } from '../messages/go-options.js'
import { optionReader } from '../messages/option-reader.js'

/** The marks of a field in its `(ashlar.api.v1.field)` option or the Go framework's option. */
export interface FieldMarks {
  /** True if it contains a secret or a credential. */
  readonly isSecret: boolean
  /** True if filters and sort orders may use it although it is output-only. */
  readonly isFilterable: boolean
  /**
   * The verb that a caller must be allowed on the referenced resource; `''` requires the permission of its
   * Get.
   */
  readonly referenceVerb: string
}

const NONE: FieldMarks = { isSecret: false, isFilterable: false, referenceVerb: '' }

export const fieldMarks = optionReader((field: DescField): FieldMarks => {
  const isSecret = isGoSecret(field)
  if (!hasOption(field, fieldOption)) return isSecret ? { ...NONE, isSecret } : NONE
  const { secret, filterable, referenceVerb } = getOption(field, fieldOption)
  return { isSecret: secret || isSecret, isFilterable: filterable, referenceVerb }
})
