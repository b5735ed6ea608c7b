import type { DescField, DescMessage, DescMethod, DescService, Message } from '@bufbuild/protobuf'
import { entryKey } from '../../resource/messages/entry-key.js'
import { getField } from '../../resource/messages/local-field.js'
import { boolReader, type Reader } from '../../resource/messages/field-readers.js'

const FLAG = 'validate_only'

/** A field that leads to requests with the flag. */
interface Way {
  readonly field: DescField
  readonly message: DescMessage
  readonly isFlagged: Reader<boolean> | undefined
}

/**
 * Returns a reader for the path of a `validate_only` that is set in a nested request, such as a batch item,
 * at any depth; undefined if the input can contain none. A message counts as a request if a method accepts it
 * or if its name says so.
 */
export const nestedValidateOnly = ({ input, parent }: DescMethod): Reader<string | undefined> | undefined => {
  const known = new Map<DescMessage, readonly Way[]>()
  const waysOf = (desc: DescMessage): readonly Way[] => {
    const ways = known.get(desc) ?? desc.fields.flatMap((field) => wayOf(field, parent))
    known.set(desc, ways)
    return ways
  }
  const find = (message: Message, desc: DescMessage, path: string): string | undefined => {
    for (const { field, message: inner, isFlagged } of waysOf(desc))
      for (const [at, child] of childrenOf(field, getField(message, field))) {
        const childPath = `${path}${field.name}${at}.`
        const found = isFlagged?.(child) === true ? `${childPath}${FLAG}` : find(child, inner, childPath)
        if (found !== undefined) return found
      }
    return undefined
  }
  return waysOf(input).length === 0 ? undefined : (message) => find(message, input, '')
}

const wayOf = (field: DescField, service: DescService): Way[] => {
  const { message } = field
  if (message === undefined || !leads(message, service, new Set())) return []
  return [{ field, message, isFlagged: flagOf(message, service) }]
}

/** Returns true if the message is a request with the flag, or can contain one. */
const leads = (desc: DescMessage, service: DescService, seen: Set<DescMessage>): boolean => {
  if (seen.has(desc)) return false
  seen.add(desc)
  if (flagOf(desc, service) !== undefined) return true
  return desc.fields.some(({ message }) => message !== undefined && leads(message, service, seen))
}

const flagOf = (desc: DescMessage, { methods }: DescService): Reader<boolean> | undefined =>
  desc.name.endsWith('Request') || methods.some(({ input }) => input.typeName === desc.typeName)
    ? boolReader(desc, FLAG)
    : undefined

const childrenOf = (field: DescField, value: unknown): readonly (readonly [string, Message])[] => {
  if (value === undefined) return []
  if (field.fieldKind === 'list') return (value as Message[]).map((child, index) => [`[${index}]`, child])
  if (field.fieldKind === 'map')
    return Object.entries(value as Record<string, Message>).map(([key, child]) => [
      entryKey(field, key),
      child,
    ])
  return [['', value as Message]]
}
