import type { DescMessage, Message } from '@bufbuild/protobuf'
import type { Reader } from '../../resource/messages/field-readers.js'
import { valueOf } from '../chain/method.js'
import { fieldNamed } from '../../resource/messages/field-readers.js'

/** A rule's resource: its type, and the text for a request. */
export interface ResourceTemplate {
  /** The text before the first colon: `zone` of `zone:{zone_id}`. */
  readonly type: string
  /** Paths of the request fields that fill the text, such as `book.id`. */
  readonly fields: readonly string[]
  fill(request: Message | undefined): string
}

/**
 * Compiles `zone:{zone_id}` or `book:{book.id}` for the request's message. A `:` in a value is written `%3A`,
 * and a `%` is `%25`, so that no two requests about different resources fill it alike.
 * @throws TypeError for an unmatched brace, for two fields without a colon in between, and when a field is
 * not in the message or is not a single value.
 */
export const resourceTemplate = (template: string, request: DescMessage): ResourceTemplate => {
  const type = typeOf(template)
  const parts = template.split(/\{([^{}]*)\}/)
  checkBraces(template)
  if (parts.length === 1) return { type, fields: [], fill: () => template }
  checkBorders(parts)
  const readers = parts.map((part, index) =>
    index % 2 === 0 ? () => part : escaping(pathReader(part, request)),
  )
  return {
    type,
    fields: parts.filter((_part, index) => index % 2 === 1),
    fill: (message) => (message === undefined ? '' : readers.map((read) => read(message)).join('')),
  }
}

const checkBraces = (template: string): void => {
  // The same length, so that positions stay correct.
  const rest = template.replace(/\{[^{}]*\}/g, (field) => ' '.repeat(field.length))
  const at = rest.search(/[{}]/)
  if (at < 0) return
  const cause = rest[at] === '{' ? '"{" is never closed: write {field}' : '"}" closes nothing: write {field}'
  throw new TypeError(`character ${at + 1}: ${cause}`)
}

/** Only a colon, which no value contains, can separate two values. */
const checkBorders = (parts: readonly string[]): void => {
  for (let at = 2; at < parts.length - 1; at += 2)
    if (parts[at]?.includes(':') !== true)
      throw new TypeError(
        `it is ambiguous where {${parts[at - 1]}} ends and {${parts[at + 1]}} begins: write a colon between them`,
      )
}

const escaping =
  (read: Reader<string>): Reader<string> =>
  (value) =>
    escapedValue(read(value))

/** A value as it stands in a filled resource, such as `plan%3A2025` for `plan:2025`. */
const escapedValue = (text: string): string =>
  /[:%]/.test(text) ? text.replaceAll('%', '%25').replaceAll(':', '%3A') : text

const pathReader = (path: string, message: DescMessage): Reader<string> => {
  if (path === '') throw new TypeError('{} names no field: write {field}')
  const [name = '', ...rest] = path.split('.')
  const field = fieldNamed(message, name)
  if (field === undefined || field.oneof !== undefined) {
    throw new TypeError(`{${path}} is not a plain field of ${message.typeName}`)
  }
  if (rest.length > 0 && field.fieldKind === 'message') {
    const inner = pathReader(rest.join('.'), field.message)
    return (value) => {
      const nested = valueOf(value, field)
      return nested === undefined ? '' : inner(nested as Message)
    }
  }
  if (rest.length > 0 || field.fieldKind !== 'scalar') {
    throw new TypeError(`{${path}} is not a single value of ${message.typeName}`)
  }
  return (value) => String((valueOf(value, field) ?? '') as string | number | bigint | boolean)
}

/** The type of a resource: what stands before its first colon. */
export const typeOf = (resource: string): string => resource.split(':', 1)[0] ?? ''
