import { create, type DescField, type DescMessage } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence, TimestampSchema } from '@bufbuild/protobuf/wkt'
import type { Output } from '../../resource/wire/write-entity.js'
import { behaves } from '../../resource/behavior/field-behavior.js'
import { inOrder } from '../../resource/wire/message-writer.js'
import { writeTime } from './time.js'
import { type JsonWriteOptions, type JsonWriter, memberWriter, valueWriter } from './writer.js'

/** Writes the value of one member of an object; undefined for one that is left out. */
export type ValueOf<T> = (holder: T, options: JsonWriteOptions) => string | undefined

/** One member of an object. */
export interface Member<T> {
  readonly field: DescField
  readonly valueOf: ValueOf<T>
}

/**
 * Writes the proto3 JSON of an entity's message without making the message: the same text as `messageWriter`
 * writes of `toMessage(entity)`. It throws for an entity of which only the message can tell what is wrong.
 */
export const entityWriter = (desc: DescMessage, outputs: readonly Output[]): JsonWriter<object> => {
  const byField = new Map(outputs.map((output) => [output.field, output]))
  const written = inOrder(desc).filter((field) => !behaves(field, 'INPUT_ONLY'))
  return objectWriter(written.map((field) => ({ field, valueOf: valueOf(field, byField.get(field)) })))
}

/** Writes an object of these members, in their order. */
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

/** The JSON of an unset field. */
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

/** No entity has a value of it. */
const withoutValue = ({ fieldKind, oneof, presence, name }: DescField): ValueOf<object> => {
  const isSingular = fieldKind !== 'list' && fieldKind !== 'map'
  if (isSingular && oneof === undefined && presence !== FeatureSet_FieldPresence.IMPLICIT)
    return () => undefined
  return () => {
    throw new TypeError(`no entity has a value for ${name}`)
  }
}

/** Times, and what a message holds as an entity does, are written as they are. */
const writerOf = (field: DescField, convert: Output['convert']): JsonWriter => {
  if (field.fieldKind === 'message' && field.message.typeName === TimestampSchema.typeName)
    return (time) => `"${writeTime(time)}"`
  const write = valueWriter(field)
  if (field.message === undefined || convert === undefined) return write
  return (value, options) => write(convert(value), options)
}
