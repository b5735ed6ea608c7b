import { type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { behaves } from '../behavior/field-behavior.js'
import { type Embedded, isPresent, lastOf } from '../typeorm/embedded.js'
import type { ComputedField, Field, ValueField } from '../fields/field.js'
import type { NamePattern } from '../names/name-pattern.js'
import { wirePartOf } from '../keys/on-the-wire.js'
import { kindOfMessageField, kindOfScalar, wrappedScalar } from '../kinds/declared-kind.js'
import { heldOf, kindOf, propertyForm } from '../kinds/kinds.js'
import { fromMessageField, toMessageField } from '../kinds/message-values.js'
import { getField, type Local, setField } from '../messages/local-field.js'
import type { Oneof } from './oneofs.js'
import { isDroppedFromClient } from './dropped-from-client.js'
import { withholding } from '../behavior/withhold-input-only.js'
import { entityWriter, type Output, type WriteEntity } from '../wire/write-entity.js'

type Values = Record<string, unknown>

/** The conversion of one field in one direction. */
interface Step {
  /** The entity's property. */
  readonly property: string
  /** The message's property. */
  readonly local: string
  /** The members of its oneof that take precedence over it, which have lower numbers. Usually undefined. */
  readonly before: readonly string[] | undefined
  readonly inMessage: DescField
  /** Undefined if the value needs no conversion. */
  readonly convert: ((value: unknown) => unknown) | undefined
  /** The replacement for a missing value; a function if each message needs a separate one. */
  readonly empty: unknown
}

/** Returns the proto3 value of an unset field: undefined for a field with presence. */
export function zeroOf(field: ValueField): unknown {
  if (field.nullable) return undefined
  if (field.transformed === undefined) return heldOf(kindOf(field).zero(field), field)
  return field.transformed.held && zeroOf(field.transformed.held)
}

/** Returns true if only a client or the application can provide the value of a new row's column. */
export const hasNoValue = (field: Field): boolean =>
  !field.nullable &&
  field.generated !== true &&
  field.isFilledByTable !== true &&
  field.default === undefined &&
  zeroOf(field) === undefined

/** The conversions of a resource, compiled once. */
export interface Conversions<E> {
  readonly toMessage: <M extends object>(entity: E) => M
  /**
   * Writes the bytes of `toMessage(entity)`. Throws for an invalid value; `toMessage` or `toBinary` then
   * reports the reason.
   */
  readonly write: WriteEntity
  /** The source of each message field's value. */
  readonly outputs: readonly Output[]
  /** @param named - the properties to set. Default: all. */
  readonly fromMessage: (message: Message, named?: ReadonlySet<string>) => E
}

/**
 * Returns the conversions between an entity and its message.
 * @param create - creates an entity without values.
 * @param computed - fields that only responses contain.
 * @param inMessage - the message fields, by property.
 * @param secretive - properties that clients can send and never receive.
 * @param name - computes the field that contains the name.
 * @param oneofs - the oneofs of the message.
 * @param embedded - the embedded classes, whose columns are not in `fields`.
 */
export function conversionsOf<E extends object>(
  desc: DescMessage,
  inMessage: ReadonlyMap<string, DescField>,
  create: () => E,
  fields: readonly Field[],
  computed: readonly ComputedField[],
  secretive: ReadonlySet<string>,
  name: NamePattern | undefined,
  oneofs: readonly Oneof[] = [],
  embedded: readonly Embedded[] = [],
): Conversions<E> {
  const out: Step[] = []
  const back: Step[] = []
  for (const field of fields) {
    const shown = inMessage.get(field.property)
    if (shown === undefined) continue
    const { held = field } = field.transformed ?? {}
    const step = behaves(shown, 'INPUT_ONLY') ? withheld(field.property, shown) : outward(held, shown, field)
    out.push(shown.oneof === undefined ? step : { ...step, before: membersBefore(field, oneofs) })
    if (!isDroppedFromClient(field)) back.push(inward(field.property, shown, field))
  }
  const parts = embedded.flatMap((one) => {
    const shown = one.inMessage
    if (shown?.message === undefined) return []
    const inner = conversionsOf(
      shown.message,
      new Map(
        one.fields.flatMap(({ name, inMessage: own }) => (own === undefined ? [] : [[name, own] as const])),
      ),
      () => new one.type(),
      one.fields.map(({ field, name }) => ({ ...field, property: name })),
      [],
      new Set(),
      undefined,
      [],
      one.nested,
    )
    const property = lastOf(one.property)
    const isWithheld = behaves(shown, 'INPUT_ONLY')
    const from = (entity: object) => {
      const value = (entity as Values)[property]
      return isWithheld || !isPresent(one, value) ? undefined : value
    }
    const convert = (value: unknown): unknown => inner.toMessage(value as object)
    return [{ shown, property, from, convert, back: (value: unknown) => inner.fromMessage(value as Message) }]
  })
  for (const property of secretive) {
    const shown = inMessage.get(property)
    if (shown === undefined) continue
    out.push(withheld(property, shown))
    back.push(inward(property, shown))
  }
  const named = name?.field.localName
  const choices = desc.oneofs.flatMap(({ localName, fields }) => (fields.length === 0 ? [] : localName))
  const reckoned = computed.flatMap(({ property, valueOf, ...field }) => {
    const shown = inMessage.get(property)
    return shown === undefined ? [] : [{ ...outward({ property, ...field }, shown), valueOf }]
  })
  const outputs: Output[] = [
    ...out.map((step) => outputOf(step, step.convert === WITHHELD ? undefined : sourceOf(step))),
    ...reckoned.map((step) => outputOf(step, step.valueOf)),
    ...parts.map(({ shown, from, convert }) => ({ field: shown, from, convert, empty: undefined })),
  ]
  if (name !== undefined)
    outputs.push({
      field: name.field,
      from: (entity) => name.format(entity),
      convert: undefined,
      empty: '',
    })
  return {
    write: entityWriter(outputs),
    outputs,
    toMessage<M extends object>(entity: E) {
      const message: Values = { $typeName: desc.typeName }
      for (const choice of choices) message[choice] = UNSET
      if (named !== undefined) message[named] = name?.format(entity)
      for (const { property, local, convert, empty, before, inMessage } of out) {
        const value = (entity as Values)[property]
        if (before !== undefined) {
          const isChosen =
            convert !== WITHHELD && isSet(value) && !before.some((one) => isSet((entity as Values)[one]))
          if (isChosen)
            setField(message as Message, inMessage, convert === undefined ? value : convert(value))
        } else if (value === undefined || value === null || convert === WITHHELD)
          message[local] = typeof empty === 'function' ? (empty as () => unknown)() : empty
        else message[local] = convert === undefined ? value : convert(value)
      }
      for (const { local, convert, empty, valueOf } of reckoned)
        message[local] = converted(valueOf(entity), convert, empty)
      for (const { shown, from, convert } of parts)
        message[shown.localName] = converted(from(entity), convert, undefined)
      return message as M
    },
    fromMessage(message, named) {
      const entity = create()
      for (const { property, local, convert, inMessage } of back) {
        if (named?.has(property) === false) continue
        const value = inMessage.oneof === undefined ? (message as Local)[local] : getField(message, inMessage)
        if (value !== undefined) (entity as Values)[property] = convert === undefined ? value : convert(value)
      }
      for (const { shown, property, back: read } of parts) {
        if (named?.has(property) === false) continue
        const value = (message as Local)[shown.localName]
        if (value !== undefined) (entity as Values)[property] = read(value)
      }
      return entity
    },
  }
}

/** The conversion of a value that clients send and never receive (AIP-203). The stored value is not read. */
const WITHHELD = (): undefined => undefined

/** Returns the conversion of a withheld field, which responses contain as unset. */
function withheld(property: string, inMessage: DescField): Step {
  const kind = kindOfMessageField(inMessage)
  return {
    property,
    local: inMessage.localName,
    inMessage,
    before: undefined,
    convert: WITHHELD,
    empty: emptyOf(inMessage, typeof kind === 'string' ? () => kindOf({ kind }).zero({}) : undefined),
  }
}

/** The value of a oneof without a set member. */
const UNSET = Object.freeze({ case: undefined })

const isSet = (value: unknown): boolean => value !== undefined && value !== null

const membersBefore = (field: Field, oneofs: readonly Oneof[]): readonly string[] =>
  oneofs.flatMap(({ members }) =>
    members.slice(0, Math.max(0, members.indexOf(field))).map(({ property }) => property),
  )

/** Returns the source of a field's value in responses. */
const sourceOf = ({ property, before = [] }: Step): Output['from'] =>
  before.length === 0
    ? property
    : (entity) =>
        before.some((one) => isSet((entity as Values)[one])) ? undefined : (entity as Values)[property]

const converted = (value: unknown, convert: Step['convert'], empty: unknown): unknown => {
  if (value === undefined || value === null) return made(empty)
  return convert === undefined ? value : convert(value)
}

const made = (empty: unknown): unknown => (typeof empty === 'function' ? (empty as () => unknown)() : empty)

const outputOf = ({ inMessage, convert, empty }: Step, from: Output['from']): Output => ({
  field: inMessage,
  from,
  convert,
  empty: made(empty),
})

const outward = (field: ValueField, inMessage: DescField, stored?: Field): Step => ({
  property: field.property,
  local: inMessage.localName,
  inMessage,
  before: undefined,
  convert:
    (stored && wirePartOf(stored, inMessage))?.toWire ??
    inWrapper(inMessage, propertyForm(field)?.toWire) ??
    withoutInputOnly(inMessage, toMessageField(inMessage)),
  empty: emptyOf(inMessage, () => zeroOnWire(field, inMessage)),
})

/** Returns the zero value of the message field, whose type can differ from the property's. */
const zeroOnWire = (field: ValueField, { fieldKind, scalar }: DescField): unknown => {
  const kind = kindOf(field)
  if (fieldKind === 'enum') return kind.zero({})
  return fieldKind === 'scalar' && (kind.key ?? propertyForm(field)) !== undefined
    ? kindOf({ kind: kindOfScalar(scalar) }).zero({})
    : kind.zero(field)
}

/** Removes the input-only fields of embedded messages. */
function withoutInputOnly(inMessage: DescField, convert: Step['convert']): Step['convert'] {
  const withhold = inMessage.message && withholding(inMessage.message)
  if (withhold === undefined || convert === undefined) return convert
  if (inMessage.fieldKind === 'list') return (value) => (convert(value) as Message[]).map(withhold)
  if (inMessage.fieldKind === 'map')
    return (value) =>
      Object.fromEntries(
        Object.entries(convert(value) as Record<string, Message>).map(([key, one]) => [key, withhold(one)]),
      )
  return (value) => withhold(convert(value) as Message)
}

const inward = (property: string, inMessage: DescField, stored?: Field): Step => {
  const held = stored?.transformed === undefined ? stored : stored.transformed.held
  return {
    property,
    local: inMessage.localName,
    inMessage,
    before: undefined,
    convert:
      (stored && wirePartOf(stored, inMessage))?.fromWire ??
      outOfWrapper(inMessage, held && propertyForm(held)?.fromWire) ??
      fromMessageField(inMessage),
    empty: undefined,
  }
}

/**
 * Returns true if generated code represents the field as a wrapper message. Outside a oneof, it is a plain
 * value.
 */
const isWrapper = (field: DescField): boolean =>
  field.oneof !== undefined && wrappedScalar(field) !== undefined

function inWrapper(inMessage: DescField, convert: Step['convert']): Step['convert'] {
  if (convert === undefined || !isWrapper(inMessage)) return convert
  const wrap = toMessageField(inMessage)
  return (value) => wrap?.(convert(value))
}

function outOfWrapper(inMessage: DescField, convert: Step['convert']): Step['convert'] {
  if (convert === undefined || !isWrapper(inMessage)) return convert
  const unwrap = fromMessageField(inMessage)
  return (value) => convert(unwrap?.(value))
}

/** Returns the value of an unset field; a function if the value must not be shared. */
function emptyOf(inMessage: DescField, zero: (() => unknown) | undefined): unknown {
  if (inMessage.fieldKind === 'message' || inMessage.proto.proto3Optional || inMessage.oneof) return undefined
  if (inMessage.fieldKind === 'list') return () => []
  if (inMessage.fieldKind === 'map') return () => ({})
  const value = zero?.()
  return typeof value === 'object' ? zero : value
}
