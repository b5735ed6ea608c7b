import type { DescMessage, Message } from '@bufbuild/protobuf'
import type { Reader } from '../../resource/messages/field-readers.js'
import { valueOf } from '../chain/method.js'
import { fieldNamed } from '../../resource/messages/field-readers.js'

/** A compiled resource template of a rule. */
export interface ResourceTemplate {
  /** The part before the first colon: `zone` in `zone:{zone_id}`. */
  readonly type: string
  /** Paths of the request fields that fill the template, such as `book.id`. */
  readonly fields: readonly string[]
  fill(request: Message | undefined): string
}

/**
 * Compiles `zone:{zone_id}` or `book:{book.id}` for the request's message. A `:` in a value is written `%3A`
 * and a `%` is written `%25`, so that requests about different resources never produce the same string.
 * @throws TypeError for an unmatched brace, for two fields without a colon between them, and for a field that
 *   is missing in the message or is not a single value.
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
  // Replaced by the same number of characters, so that positions stay correct.
  const rest = template.replace(/\{[^{}]*\}/g, (field) => ' '.repeat(field.length))
  const at = rest.search(/[{}]/)
  if (at < 0) return
  const cause = rest[at] === '{' ? '"{" is never closed: write {field}' : '"}" closes nothing: write {field}'
  throw new TypeError(`character ${at + 1}: ${cause}`)
}

/** Values never contain a colon, so only a colon can separate two values. */
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

/** Escapes a value for a filled resource: `plan:2025` becomes `plan%3A2025`. */
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

/** Returns the resource type: the part before the first colon. */
export const typeOf = (resource: string): string => resource.split(':', 1)[0] ?? ''
