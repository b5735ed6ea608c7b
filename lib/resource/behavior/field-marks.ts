import { type DescField, getOption, hasOption } from '@bufbuild/protobuf'
import { field as fieldOption } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { isGoSecret } from '../messages/go-options.js'
import { optionReader } from '../messages/option-reader.js'

/** The `(ashlar.api.v1.field)` option of a field, or the Go framework's option. */
export interface FieldMarks {
  /** It holds a secret or a credential. */
  readonly isSecret: boolean
  /** Filters and orders may name it, although it is output-only. */
  readonly isFilterable: boolean
  /** The permission that a caller needs on the resource it refers to; `''` for its Get's permission. */
  readonly referenceVerb: string
}

const NONE: FieldMarks = { isSecret: false, isFilterable: false, referenceVerb: '' }

export const fieldMarks = optionReader((field: DescField): FieldMarks => {
  const isSecret = isGoSecret(field)
  if (!hasOption(field, fieldOption)) return isSecret ? { ...NONE, isSecret } : NONE
  const { secret, filterable, referenceVerb } = getOption(field, fieldOption)
  return { isSecret: secret || isSecret, isFilterable: filterable, referenceVerb }
})
