import { create, type DescField, type DescMessage } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence, TimestampSchema } from '@bufbuild/protobuf/wkt'
import type { Output } from '../../resource/wire/write-entity.js'
import { behaves } from '../../resource/behavior/field-behavior.js'
import { inOrder } from '../../resource/wire/message-writer.js'
import { writeTime } from './time.js'
import { type JsonWriteOptions, type JsonWriter, memberWriter, valueWriter } from './writer.js'

/** Writes the value of one member of an object; undefined if the member is omitted. */
export type ValueOf<T> = (holder: T, options: JsonWriteOptions) => string | undefined

/** A member of an object. */
export interface Member<T> {
  readonly field: DescField
  readonly valueOf: ValueOf<T>
}

/**
 * Returns a writer for the proto3 JSON of an entity's message that does not create the message. The text is
 * the same that `messageWriter` writes for `toMessage(entity)`. It throws for an invalid entity, whose
 * message then reports the reason.
 */
export const entityWriter = (desc: DescMessage, outputs: readonly Output[]): JsonWriter<object> => {
  const byField = new Map(outputs.map((output) => [output.field, output]))
  const written = inOrder(desc).filter((field) => !behaves(field, 'INPUT_ONLY'))
  return objectWriter(written.map((field) => ({ field, valueOf: valueOf(field, byField.get(field)) })))
}

/** Returns a writer for an object with these members, in order. */
export const objectWriter = <T>(members: readonly Member<T>[]): JsonWriter<T> => {
  const named = members.map(({ field, valueOf }) => ({ name: nameOf(field), valueOf }))
  const parts = named.map(({ name, valueOf }) => ({ first: `{${name}`, next: `,${name}`, valueOf }))
  return (holder, options) => {
    let text = ''
    for (const { first, next, valueOf } of parts) {
      const value = valueOf(holder, options)
      if (value !== undefined) text += (text === '' ? first : next) + value
    }
    return text === '' ? '{}' : `${text}}`
  }
}

/** Returns the writer for an unset field. */
export const unset = (field: DescField): ValueOf<unknown> => {
  const member = memberWriter(field)(create(field.parent), {})
  const text = member === '' ? undefined : member.slice(nameOf(field).length)
  return () => text
}

const nameOf = ({ jsonName }: DescField): string => `${JSON.stringify(jsonName)}:`

const valueOf = (field: DescField, output: Output | undefined): ValueOf<object> => {
  if (output === undefined) return withoutValue(field)
  const { from, convert, empty } = output
  const absent = empty === undefined ? undefined : valueWriter(field)(empty, {})
  const write = writerOf(field, convert)
  return (entity, options) => {
    const value = typeof from === 'string' ? (entity as Values)[from] : from?.(entity)
    return value === undefined || value === null ? absent : write(value, options)
  }
}

type Values = Readonly<Record<string, unknown>>

/** Returns the writer for a field that entities have no value for. */
const withoutValue = ({ fieldKind, oneof, presence, name }: DescField): ValueOf<object> => {
  const isSingular = fieldKind !== 'list' && fieldKind !== 'map'
  if (isSingular && oneof === undefined && presence !== FeatureSet_FieldPresence.IMPLICIT)
    return () => undefined
  return () => {
    throw new TypeError(`no entity has a value for ${name}`)
  }
}

/**
 * Returns the writer for a value. Times, and values that messages and entities represent equally, are written
 * directly.
 */
const writerOf = (field: DescField, convert: Output['convert']): JsonWriter => {
  if (field.fieldKind === 'message' && field.message.typeName === TimestampSchema.typeName)
    return (time) => `"${writeTime(time)}"`
  const write = valueWriter(field)
  if (field.message === undefined || convert === undefined) return write
  return (value, options) => write(convert(value), options)
}
