import { problem, type Problem } from '../errors.js'
import {
  createRegistry,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from '@bufbuild/protobuf'
import { AnySchema } from '@bufbuild/protobuf/wkt'
import type { EmittedChanges } from '../../decorators/entity-facts.js'
import type { Field } from './fields/field.js'
import { kindOf, ownOf } from './kinds/kinds.js'
import { isMarkedSecret, type Redaction, withoutSecrets } from './redaction.js'

/** The `@Emits()` declaration of a resource, and the form of its events. */
export interface EventsModel extends EmittedChanges {
  readonly source: string
  /**
   * The entity as JSON: proto3 JSON of its message. Without a message it has the properties of the entity,
   * with values as proto3 JSON writes them. Never a secret, a credential or an INPUT_ONLY field.
   */
  readonly toJson: (entity: object) => JsonObject
}

/** The part of a model that events need. */
interface Reported {
  readonly type: string
  readonly message: DescMessage | undefined
  readonly entityFields: readonly Field[]
  readonly toMessage: (entity: object) => Message
}

export function eventsModel(declared: EmittedChanges, reported: Reported): EventsModel {
  const { type, message, entityFields, toMessage } = reported
  return {
    ...declared,
    source: declared.source ?? `/${type}`,
    toJson:
      message === undefined
        ? (entity) => plainJson(entityFields, entity)
        : (entity) =>
            toJson(message, withoutSecrets(REDACTION, message, toMessage(entity)).message) as JsonObject,
  }
}

/** The reasons why the resource cannot have events, one sentence each. */
export const eventProblems = (
  declared: EmittedChanges | undefined,
  message: DescMessage | undefined,
): Problem[] =>
  declared === undefined || message === undefined || !mayHoldAny(message, new Set())
    ? []
    : [
        problem(
          'event',
          `${message.name} can hold a google.protobuf.Any, whose content is not known where an event is written`,
          'drop @Emits(), or the field',
        ),
      ]

const REDACTION: Redaction = { isSecret: isMarkedSecret, types: createRegistry() }

function mayHoldAny(desc: DescMessage, seen: Set<DescMessage>): boolean {
  if (desc.typeName === AnySchema.typeName) return true
  if (seen.has(desc)) return false
  seen.add(desc)
  return desc.fields.some(({ message }) => message !== undefined && mayHoldAny(message, seen))
}

function plainJson(fields: readonly Field[], entity: object): JsonObject {
  const json: JsonObject = {}
  for (const field of fields) {
    if (field.isWithheld === true) continue
    const value = (entity as Readonly<Record<string, unknown>>)[field.property]
    if (value !== undefined && value !== null) json[field.property] = valueJson(field, value)
  }
  return json
}

function valueJson(field: Field, value: unknown): JsonValue {
  const { toJson } = kindOf(field)
  const isOther = field.transformed !== undefined || toJson === undefined
  return isOther ? anyJson(ownOf(value, field)) : toJson(value, field)
}

/** Of what is stored as JSON, whatever is inside of it. */
function anyJson(value: unknown): JsonValue {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(anyJson)
  if (typeof value !== 'object' || value === null) return (value ?? null) as JsonValue
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === undefined ? [] : [[name, anyJson(one)]])),
  )
}
