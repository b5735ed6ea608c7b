import { nestedTypes } from '@bufbuild/protobuf/reflect'
import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { findMaskPath, splitPaths } from '../../resource/messages/field-names.js'
import { readableOf } from '../../resource/messages/read-mask-target.js'
import { hasSpecialJson } from './any.js'
import { JsonFault } from './fault.js'

/** Converts `displayName` to `display_name` by the JSON mapping of FieldMask. */
const toSnakeCase = (path: string): string => path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Converts `display_name` to `displayName`. */
const toCamelCase = (path: string): string =>
  path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Returns the messages whose fields a mask may name: the other message fields of its parent, as `widget` is
 * for `update_mask`. They determine the conversion of names, because the mapping alone is ambiguous:
 * `address_line_2` is `addressLine2` in JSON.
 */
export const masked = (mask: DescField): readonly DescMessage[] =>
  mask.parent.fields.flatMap(({ message }) =>
    message === undefined || hasSpecialJson(message) ? [] : [message],
  )

/**
 * Returns the messages whose fields a mask in a response may name. If the parent has no other message fields,
 * these are the messages of its file.
 */
export const nameable = (mask: DescField): readonly DescMessage[] => [...masked(mask), ...inFileOf(mask)]

const inFileOf = (mask: DescField): readonly DescMessage[] =>
  [...nestedTypes(mask.parent.file)].filter((type) => type.kind === 'message')

/**
 * Returns further messages whose fields a received mask may name, as if it were written without other message
 * fields.
 */
export const otherwiseNamed = (mask: DescField): readonly DescMessage[] =>
  masked(mask).length > 0 ? [] : inFileOf(mask)

const pathIn = (messages: readonly DescMessage[], path: string) => {
  for (const message of messages) {
    const found = findMaskPath(message, path)
    if (found !== undefined) return found
  }
  return undefined
}

const withAnswer = (messages: readonly DescMessage[], answer: DescMessage | undefined) =>
  answer === undefined ? messages : [...messages, readableOf(answer).message]

/**
 * Converts paths to proto names. A path that no message has is converted by the JSON mapping of FieldMask.
 */
export function protoPaths(
  paths: readonly string[],
  messages: readonly DescMessage[],
  answer: DescMessage | undefined,
): string[] {
  const all = withAnswer(messages, answer)
  return paths.map((path) => pathIn(all, path)?.proto ?? toSnakeCase(path))
}

/**
 * Reads the paths of a FieldMask in JSON, which are comma-separated and in lowerCamelCase.
 * @param answer - the response of the method, whose fields a read mask names.
 * @param otherwise - further messages whose fields it may name.
 */
export function readMaskPaths(
  text: string,
  messages: readonly DescMessage[],
  answer: DescMessage | undefined,
  otherwise: readonly DescMessage[] = [],
): string[] {
  if (text === '') return []
  const all = [...withAnswer(messages, answer), ...otherwise]
  return splitPaths(text).map((path) => {
    const known = pathIn(all, path)
    if (known !== undefined) return known.proto
    if (path === '' || path.includes('_'))
      throw new JsonFault('expected comma-separated lowerCamelCase paths, such as "displayName,size"')
    return toSnakeCase(path)
  })
}

/**
 * Converts paths to JSON names. A path that no message has is kept if it would be read back as a different
 * path.
 */
export function jsonPaths(paths: readonly string[], messages: readonly DescMessage[]): string[] {
  if (!Array.isArray(paths)) throw new RangeError('the paths of a mask are not an array')
  return Array.from(paths as readonly unknown[], (path) => {
    if (typeof path !== 'string') throw new RangeError('a mask path is not a string')
    const known = pathIn(messages, path)
    if (known !== undefined) return known.json
    const camel = toCamelCase(path)
    return toSnakeCase(camel) === path && !camel.includes('_') ? camel : path
  })
}

/**
 * Returns the JSON of a FieldMask.
 * @throws RangeError unless the paths are an array of strings.
 */
export const writeMaskPaths = (paths: readonly string[], messages: readonly DescMessage[]): string =>
  jsonPaths(paths, messages).join(',')
