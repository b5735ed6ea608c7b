import { type DescField, type DescMessage, type DescMethod, getOption, ScalarType } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { FieldBehavior, field_behavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { declaredAt } from './declared-at.js'
import type { SurfaceChange } from './surface-change.js'

/**
 * The changes to `google.api.field_behavior` (AIP-203) in fields that clients of the earlier version send and
 * receive.
 */
export class FieldChanges {
  readonly found: SurfaceChange[] = []
  readonly #sent = new Set<DescMessage>()
  readonly #received = new Set<DescMessage>()

  /** Compares the messages of a method at every depth that the earlier version knows, each message once. */
  ofMethod(method: DescMethod, earlier: DescMethod): void {
    this.#ofRequest(method.input, earlier.input)
    this.#ofResponse(method.output, earlier.output)
  }

  #ofRequest(message: DescMessage, earlier: DescMessage): void {
    if (this.#sent.has(message)) return
    this.#sent.add(message)
    for (const field of message.fields) {
      const before = withNumber(earlier, field.number)
      this.found.push(...sentChanges(field, before))
      // Clients do not send fields that they do not know, and an unset message has no fields.
      if (!isSetByServer(field) && field.message !== undefined && before?.message !== undefined)
        this.#ofRequest(field.message, before.message)
    }
  }

  #ofResponse(message: DescMessage, earlier: DescMessage): void {
    if (this.#received.has(message)) return
    this.#received.add(message)
    for (const field of message.fields) {
      const before = withNumber(earlier, field.number)
      if (before === undefined || behaves(before, 'INPUT_ONLY')) continue
      if (behaves(field, 'INPUT_ONLY'))
        this.found.push({ ...declared(field), kind: 'field-newly-input-only' })
      else if (field.message !== undefined && before.message !== undefined)
        this.#ofResponse(field.message, before.message)
    }
  }
}

function sentChanges(field: DescField, before: DescField | undefined): readonly SurfaceChange[] {
  const wasSent = before !== undefined && !isSetByServer(before)
  if (isSetByServer(field))
    return wasSent
      ? [
          {
            ...declared(field),
            kind: 'field-newly-set-by-server',
            behavior: behaves(field, 'OUTPUT_ONLY') ? 'OUTPUT_ONLY' : 'IDENTIFIER',
          },
        ]
      : []
  const changes: SurfaceChange[] = []
  if (isRequired(field) && !(wasSent && isRequired(before)))
    changes.push({ ...declared(field), kind: 'field-newly-required', isNew: before === undefined })
  if (wasSent && behaves(field, 'IMMUTABLE') && !behaves(before, 'IMMUTABLE'))
    changes.push({ ...declared(field), kind: 'field-newly-immutable' })
  return changes
}

const declared = (field: DescField) => ({
  ...declaredAt(field),
  message: field.parent.name,
  field: field.name,
  number: field.number,
})

const withNumber = ({ fields }: DescMessage, number: number): DescField | undefined =>
  fields.find((field) => field.number === number)

const behaves = (field: DescField, behavior: keyof typeof FieldBehavior): boolean =>
  getOption(field, field_behavior).includes(FieldBehavior[behavior])

const isSetByServer = (field: DescField): boolean =>
  behaves(field, 'OUTPUT_ONLY') || behaves(field, 'IDENTIFIER')

/**
 * Returns true if a request without the field is rejected. A number or a bool without presence cannot be
 * missing.
 */
const isRequired = (field: DescField): boolean =>
  behaves(field, 'REQUIRED') &&
  (field.fieldKind !== 'scalar' ||
    field.presence !== FeatureSet_FieldPresence.IMPLICIT ||
    field.scalar === ScalarType.STRING ||
    field.scalar === ScalarType.BYTES)
