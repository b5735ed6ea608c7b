import { nestedTypes } from '@bufbuild/protobuf/reflect'
import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { findMaskPath, splitPaths } from '../../resource/messages/field-names.js'
import { readableOf } from '../../resource/messages/read-mask-target.js'
import { hasSpecialJson } from './any.js'
import { JsonFault } from './fault.js'

/** `displayName` → `display_name`, by the JSON mapping of FieldMask. */
const toSnakeCase = (path: string): string => path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `display_name` → `displayName`. */
const toCamelCase = (path: string): string =>
  path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * The messages whose fields a mask may name: those that stand beside it in its message, as `widget` does
 * beside `update_mask`. They decide how a path is spelled, because the mapping of names alone loses some of
 * them: `address_line_2` is `addressLine2` in JSON.
 */
export const masked = (mask: DescField): readonly DescMessage[] =>
  mask.parent.fields.flatMap(({ message }) =>
    message === undefined || hasSpecialJson(message) ? [] : [message],
  )

/**
 * The messages whose fields a mask in a response may name: a message that has nothing beside the mask means
 * one of its file.
 */
export const nameable = (mask: DescField): readonly DescMessage[] => [...masked(mask), ...inFileOf(mask)]

const inFileOf = (mask: DescField): readonly DescMessage[] =>
  [...nestedTypes(mask.parent.file)].filter((type) => type.kind === 'message')

/**
 * The names that a mask being read may contain besides the response's: as it would be written without a
 * message beside it.
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

/** Paths in proto names. A path that no message has is converted by the JSON mapping of FieldMask. */
export function protoPaths(
  paths: readonly string[],
  messages: readonly DescMessage[],
  answer: DescMessage | undefined,
): string[] {
  const all = withAnswer(messages, answer)
  return paths.map((path) => pathIn(all, path)?.proto ?? toSnakeCase(path))
}

/**
 * Reads the paths of a FieldMask in JSON: comma-separated and lowerCamelCase.
 * @param answer - the response of the method, whose fields a read mask names.
 * @param otherwise - further messages that it may name.
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

/** Paths in JSON names. A path that no message has, and that would read back as another, stays as it is. */
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

/** The JSON of a FieldMask. @throws RangeError for what is not a list of strings. */
export const writeMaskPaths = (paths: readonly string[], messages: readonly DescMessage[]): string =>
  jsonPaths(paths, messages).join(',')
