import { type DescField, getOption, hasOption } from '@bufbuild/protobuf'
import { field as fieldOption } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { isGoSecret } from '../messages/go-options.js'
import { optionReader } from '../messages/option-reader.js'

/** What `(ashlar.api.v1.field)`, or an option of the Go framework, says of a field. */
export interface FieldMarks {
  /** It holds a secret or a credential. */
  readonly isSecret: boolean
  /** Filters and orders may name it, although it is output-only. */
  readonly isFilterable: boolean
  /**
   * What a caller has to be allowed to do with the resource that it refers to; `''` for what its Get needs.
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
