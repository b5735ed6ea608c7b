import { getOption, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { FieldBehavior, field_behavior } from '../../gen/google/api/field_behavior_pb.js'
import type { Field, FieldKind } from '../fields/field.js'
import { kindOfMessageField } from '../fields/field-kind.js'
import { fromMessageField, toMessageField } from './wire-values.js'

type Values = Record<string, unknown>
type Step = (from: Values, to: Values) => void

const ZERO: Readonly<Record<FieldKind, () => unknown>> = {
  string: () => '',
  bytes: () => new Uint8Array(),
  bool: () => false,
  int32: () => 0,
  uint32: () => 0,
  int64: () => 0n,
  uint64: () => 0n,
  float: () => 0,
  double: () => 0,
  enum: () => 0,
  timestamp: () => undefined,
  duration: () => undefined,
  json: () => undefined,
  tags: () => ({}),
}

/** The value proto3 gives a field that is not set: undefined where the field knows absence. */
export function zeroOf(field: Field): unknown {
  if (field.nullable) return undefined
  return field.kind === 'json' && field.repeated ? [] : ZERO[field.kind]()
}

/** What has to happen for each field, worked out once per resource. */
export interface Conversions {
  toMessage(entity: object): Message
  fromMessage(message: Message, entity: object): void
}

/**
 * The two directions between an entity and its message.
 * @param secretive - properties whose value a client sends and never gets back, with their message fields.
 */
export function conversionsOf(
  desc: DescMessage,
  fields: readonly Field[],
  secretive: ReadonlySet<string>,
): Conversions {
  const byLocalName = new Map(desc.fields.map((field) => [field.localName, field]))
  const out: Step[] = []
  const back: Step[] = []
  for (const field of fields) {
    const inMessage = byLocalName.get(field.property)
    if (inMessage === undefined) continue
    out.push(isInputOnly(inMessage) ? withheld(inMessage) : outward(field, inMessage))
    if (field.role === 'plain' || field.role === 'key' || field.role === 'etag')
      back.push(inward(field.property, inMessage))
  }
  for (const property of secretive) {
    const inMessage = byLocalName.get(property)
    if (inMessage === undefined) continue
    out.push(withheld(inMessage))
    back.push(inward(property, inMessage))
  }
  return {
    toMessage(entity) {
      const message: Values = { $typeName: desc.typeName }
      for (const step of out) step(entity as Values, message)
      return message as unknown as Message
    },
    fromMessage(message, entity) {
      for (const step of back) step(message as unknown as Values, entity as Values)
    },
  }
}

const isInputOnly = (field: DescField): boolean =>
  getOption(field, field_behavior).includes(FieldBehavior.INPUT_ONLY)

/** What a client sends and never gets back (AIP-203): answered as if it were not set. */
function withheld(inMessage: DescField): Step {
  const { localName } = inMessage
  const empty =
    inMessage.fieldKind === 'message' || inMessage.proto.proto3Optional ? undefined : emptyScalar(inMessage)
  return (_, to) => void (to[localName] = empty)
}

function emptyScalar(field: DescField): unknown {
  if (field.fieldKind === 'list') return []
  if (field.fieldKind === 'map') return {}
  const kind = kindOfMessageField(field)
  return typeof kind === 'string' ? ZERO[kind]() : undefined
}

function outward(field: Field, inMessage: DescField): Step {
  const convert = toMessageField(inMessage)
  const { property } = field
  const empty =
    inMessage.fieldKind === 'message' || inMessage.proto.proto3Optional
      ? () => undefined
      : () => emptyOf(field, inMessage)
  return (from, to) => {
    const value = from[property]
    to[property] = value === undefined || value === null ? empty() : convert(value)
  }
}

const emptyOf = (field: Field, inMessage: DescField): unknown =>
  inMessage.fieldKind === 'list' ? [] : inMessage.fieldKind === 'map' ? {} : ZERO[field.kind]()

function inward(property: string, inMessage: DescField): Step {
  const convert = fromMessageField(inMessage)
  return (from, to) => {
    const value = from[property]
    if (value !== undefined) to[property] = convert(value)
  }
}
