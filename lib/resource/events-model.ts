import { problem, type Problem } from '../errors.js'
import {
  createRegistry,
  type DescField,
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
import { maskSteps } from './messages/field-names.js'
import { shapeOf } from './free-form/shape.js'
import { isMarkedSecret, type Redaction, withoutSecrets } from './redaction.js'

/** A resource's `@Emits()` declaration and the format of its events. */
export interface EventsModel extends EmittedChanges {
  readonly source: string
  /**
   * Returns the entity as proto3 JSON of its message. Without a message, returns the entity's properties in
   * the same notation. Secrets, credentials and INPUT_ONLY fields are never included.
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
  const named = message && freeFormFields(message, declared.freeForm)
  const redaction: Redaction = {
    isSecret: (field) =>
      isMarkedSecret(field) || (shapeOf(field.message) !== undefined && named?.has(field) !== true),
    types: createRegistry(),
  }
  return {
    ...declared,
    source: declared.source ?? `/${type}`,
    toJson:
      message === undefined
        ? (entity) => plainJson(entityFields, entity)
        : (entity) =>
            toJson(message, withoutSecrets(redaction, message, toMessage(entity)).message) as JsonObject,
  }
}

/** Returns the reasons why the resource cannot emit events, one sentence each. */
export function eventProblems(
  declared: EmittedChanges | undefined,
  message: DescMessage | undefined,
): Problem[] {
  if (declared === undefined) return []
  const unknown = declared.freeForm.filter(
    (path) => message === undefined || freeFormFields(message, [path]).size === 0,
  )
  return [
    ...unknown.map((path) =>
      problem(
        'event',
        `@Emits({ freeForm: [${JSON.stringify(path)}] }) does not name a field with free-form JSON`,
        'name a field of the message that is a google.protobuf.Struct, Value or ListValue, or remove it',
      ),
    ),
    ...(message === undefined || !mayHoldAny(message, new Set())
      ? []
      : [
          problem(
            'event',
            `${message.name} can contain a google.protobuf.Any, whose content is unknown when an event is written`,
            'remove @Emits(), or the field',
          ),
        ]),
  ]
}

/** Returns the fields with free-form JSON on the given paths. */
const freeFormFields = (message: DescMessage, paths: readonly string[]): ReadonlySet<DescField> =>
  new Set(
    paths.flatMap((path) => {
      const last = maskSteps(message, path)?.at(-1)
      return last !== undefined && 'field' in last && shapeOf(last.field.message) !== undefined
        ? last.field
        : []
    }),
  )

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

/** Converts a value in a JSON column, whatever its structure. */
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
