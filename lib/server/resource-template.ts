import type { DescMessage, Message } from '@bufbuild/protobuf'
import { fieldNamed, type Reader, valueOf } from './method.js'

/** A rule's resource: its type, and the text it has for a request. */
export interface ResourceTemplate {
  /** What stands before the first colon: `zone` of `zone:{zone_id}`. */
  readonly type: string
  /** Whether the text depends on the request. */
  readonly needsRequest: boolean
  fill(request: Message | undefined): string
}

/**
 * Compiles `zone:{zone_id}` or `book:{book.id}` against the request's message.
 * @throws TypeError when a field is not in the message or is no single value.
 */
export const resourceTemplate = (template: string, request: DescMessage): ResourceTemplate => {
  const type = template.split(':', 1)[0] ?? ''
  const parts = template.split(/\{([^{}]*)\}/)
  if (parts.length === 1) return { type, needsRequest: false, fill: () => template }
  const readers = parts.map((part, index) => (index % 2 === 0 ? () => part : pathReader(part, request)))
  return {
    type,
    needsRequest: true,
    fill: (message) => (message === undefined ? '' : readers.map((read) => read(message)).join('')),
  }
}

const pathReader = (path: string, message: DescMessage): Reader<string> => {
  const [name = '', ...rest] = path.split('.')
  const field = fieldNamed(message, name)
  if (field === undefined || field.oneof !== undefined) {
    throw new TypeError(`{${path}} is no plain field of ${message.typeName}`)
  }
  if (rest.length > 0 && field.fieldKind === 'message') {
    const inner = pathReader(rest.join('.'), field.message)
    return (value) => {
      const nested = valueOf(value, field)
      return nested === undefined ? '' : inner(nested as Message)
    }
  }
  if (rest.length > 0 || field.fieldKind !== 'scalar') {
    throw new TypeError(`{${path}} is no single value of ${message.typeName}`)
  }
  return (value) => String((valueOf(value, field) ?? '') as string | number | bigint | boolean)
}
