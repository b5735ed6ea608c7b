import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  type DescService,
  getOption,
  ScalarType,
} from '@bufbuild/protobuf'
import { type FileDescriptorSet, FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { FieldBehavior, field_behavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'

/** A field that requests of earlier clients leave out, and that the server now requires. */
export interface NewlyRequired {
  /** The .proto file, as others import it. */
  readonly file: string
  /** Counts from 1. */
  readonly line: number
  readonly message: string
}

/** The fields that are REQUIRED now and were not, in all that a client of the earlier version can send. */
export function newlyRequired(now: FileDescriptorSet, earlier: FileDescriptorSet): readonly NewlyRequired[] {
  const walk = new Walk()
  const services = servicesOf(earlier)
  for (const [name, service] of servicesOf(now))
    for (const method of service.methods) {
      const old = services.get(name)?.methods.find((one) => one.name === method.name)
      if (old !== undefined) walk.into(method.input, old.input)
    }
  return walk.found
}

const servicesOf = (set: FileDescriptorSet): ReadonlyMap<string, DescService> =>
  new Map(
    [...createFileRegistry(set).files]
      .flatMap(({ services }) => services)
      .map((service) => [service.typeName, service]),
  )

class Walk {
  readonly found: NewlyRequired[] = []
  readonly #seen = new Set<DescMessage>()

  into(message: DescMessage, old: DescMessage): void {
    if (this.#seen.has(message)) return
    this.#seen.add(message)
    for (const field of message.fields) {
      if (isSetByServer(field)) continue
      const before = old.fields.find(({ number }) => number === field.number)
      if (isRequired(field) && (before === undefined || !isRequired(before) || isSetByServer(before)))
        this.found.push(findingOf(field, before))
      // What a client does not know, it does not send.
      if (field.message !== undefined && before?.message !== undefined)
        this.into(field.message, before.message)
    }
  }
}

function findingOf(field: DescField, before: DescField | undefined): NewlyRequired {
  const { parent, name } = field
  const what = before === undefined ? 'is new and REQUIRED' : 'is REQUIRED and was not'
  return {
    file: parent.file.proto.name,
    line: lineOf(field),
    message: `Field "${field.number}" with name "${name}" on message "${parent.name}" ${what}: requests of clients that do not send it are refused. Add REQUIRED in a later release, when every client sends it.`,
  }
}

function lineOf({ parent, number }: DescField): number {
  const path = [...pathOf(parent), 2, parent.proto.field.findIndex((one) => one.number === number)]
  const location = parent.file.proto.sourceCodeInfo?.location.find(
    (one) => one.path.length === path.length && one.path.every((part, index) => part === path[index]),
  )
  return (location?.span[0] ?? 0) + 1
}

/** Where a message stands in the descriptor of its file. */
function pathOf({ parent, file, proto }: DescMessage): readonly number[] {
  return parent === undefined
    ? [4, file.proto.messageType.indexOf(proto)]
    : [...pathOf(parent), 3, parent.proto.nestedType.indexOf(proto)]
}

const behaviors = (field: DescField) => getOption(field, field_behavior)

const isSetByServer = (field: DescField): boolean =>
  behaviors(field).some((one) => one === FieldBehavior.OUTPUT_ONLY || one === FieldBehavior.IDENTIFIER)

/** Whether a request without the field is refused: a number or a bool without presence cannot be missing. */
const isRequired = (field: DescField): boolean =>
  behaviors(field).includes(FieldBehavior.REQUIRED) &&
  (field.fieldKind !== 'scalar' ||
    field.presence !== FeatureSet_FieldPresence.IMPLICIT ||
    field.scalar === ScalarType.STRING ||
    field.scalar === ScalarType.BYTES)
