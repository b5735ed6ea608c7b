import { type DescField, type DescMessage, type Message, toBinary } from '@bufbuild/protobuf'
import { ResourceExhausted } from '../../errors.js'
import type { Choice, Local } from '../messages/local-field.js'
import { ByteWriter } from './byte-writer.js'
import { fieldWriter, PRESENCE } from './field-writers.js'
import { tagOf, type Write } from './scalar-writers.js'

type WriteField = (message: Local, out: ByteWriter) => void

const compiled = new WeakMap<DescMessage, Write>()

/**
 * Returns the compiled writer of a message's fields, for embedding. It throws for a value that does not have
 * its field's type.
 */
export function messageWriter(desc: DescMessage): Write {
  const known = compiled.get(desc)
  if (known !== undefined) return known
  const fields: WriteField[] = []
  const { typeName } = desc
  const write: Write = (value, out) => {
    const message = value as Local
    if (message.$typeName !== typeName) throw new TypeError(`the message is not a ${typeName}`)
    for (let index = 0; index < fields.length; index++) (fields[index] as WriteField)(message, out)
    if (message.$unknown === undefined) return
    for (const { no, wireType, data } of message.$unknown) {
      out.varint(tagOf(no, wireType))
      out.raw(data)
    }
  }
  // Registered before its fields are compiled, because messages can be recursive.
  compiled.set(desc, write)
  for (const field of inOrder(desc)) fields.push(fieldOf(field))
  return write
}

/**
 * Returns the bytes of the message, equal to the result of `toBinary`, which also reports the problem of an
 * invalid message.
 * @throws Error as `toBinary` does, and ResourceExhausted for more than `maxBytes`.
 */
export function messageBytes(desc: DescMessage, message: Message, maxBytes: number): Uint8Array {
  const write = messageWriter(desc)
  try {
    return ByteWriter.bytesOf(write, message, maxBytes)
  } catch (error) {
    if (error instanceof ResourceExhausted) throw error
    return toBinary(desc, message)
  }
}

/** Returns the fields in the order of the encoded bytes. */
export const inOrder = ({ fields }: DescMessage): DescField[] =>
  fields.toSorted((one, other) => one.number - other.number)

function fieldOf(field: DescField): WriteField {
  const { localName, oneof } = field
  const write = fieldWriter(field, messageWriter)
  if (oneof !== undefined)
    return (message, out) => {
      const choice = message[oneof.localName] as Choice
      if (choice.case === localName) write(choice.value, out)
    }
  if (field.presence === PRESENCE.implicit) return (message, out) => write(message[localName], out)
  // The message's prototype contains the default values of its fields.
  return (message, out) => {
    const value = message[localName]
    if (value !== undefined && Object.hasOwn(message, localName)) write(value, out)
    else if (field.presence === PRESENCE.required) throw new TypeError(`${field.name} is required`)
  }
}
