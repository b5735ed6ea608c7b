import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import type { Local } from '../messages/local-field.js'
import { behaves, holdsField } from './field-behavior.js'

/**
 * Removes INPUT_ONLY values from a message. Returns a copy if one was set, and otherwise the message itself.
 */
export type Withhold = (message: Message) => Message

const known = new WeakMap<DescMessage, Withhold | undefined>()

/**
 * Returns the function that removes INPUT_ONLY values (AIP-203) from messages of the type; undefined if it
 * has no such field at any depth.
 */
export function withholding(desc: DescMessage): Withhold | undefined {
  if (!known.has(desc)) {
    // Registered before its fields are read, because messages can be recursive.
    let steps: readonly Step[] = []
    const isHolding = holdsField(desc, isInputOnly)
    known.set(desc, isHolding ? (message) => withheld(message, steps) : undefined)
    if (isHolding) steps = desc.fields.flatMap(stepOf)
  }
  return known.get(desc)
}

interface Step {
  readonly field: DescField
  /** Undefined if the field itself is withheld. */
  readonly inner: Withhold | undefined
}

const isInputOnly = (field: DescField): boolean => behaves(field, 'INPUT_ONLY')

const stepOf = (field: DescField): Step[] => {
  if (isInputOnly(field)) return [{ field, inner: undefined }]
  const inner = field.message && withholding(field.message)
  return inner === undefined ? [] : [{ field, inner }]
}

function withheld(message: Message, steps: readonly Step[]): Message {
  let copy: Message | undefined
  for (const { field, inner } of steps) {
    const name = field.oneof?.localName ?? field.localName
    const held = (message as Local)[name]
    const rest = field.oneof === undefined ? without(held, field, inner) : chosen(held, field, inner)
    if (rest === held) continue
    copy ??= Object.assign(Object.create(Object.getPrototypeOf(message) as object) as Message, message)
    if (rest === undefined) delete (copy as Local)[name]
    else (copy as Local)[name] = rest
  }
  return copy ?? message
}

function without(value: unknown, field: DescField, inner: Withhold | undefined): unknown {
  if (value === undefined) return undefined
  if (inner === undefined) return emptyOf(value, field)
  if (field.fieldKind === 'list') return changed(value as Message[], (value as Message[]).map(inner))
  if (field.fieldKind !== 'map') return inner(value as Message)
  const entries = Object.entries(value as Record<string, Message>)
  const rest = entries.map(([key, one]) => [key, inner(one)] as const)
  return rest.every(([, one], index) => one === entries[index]?.[1]) ? value : Object.fromEntries(rest)
}

const changed = (before: readonly Message[], after: readonly Message[]): readonly Message[] =>
  after.every((one, index) => one === before[index]) ? before : after

function chosen(choice: unknown, field: DescField, inner: Withhold | undefined): unknown {
  const { case: name, value } = choice as { readonly case: string | undefined; readonly value?: unknown }
  if (name !== field.localName) return choice
  if (inner === undefined) return { case: undefined }
  const rest = inner(value as Message)
  return rest === value ? choice : { case: name, value: rest }
}

/** Returns the value of an unset field; the value itself if the field is not set. */
function emptyOf(value: unknown, field: DescField): unknown {
  if (field.fieldKind === 'list') return (value as unknown[]).length === 0 ? value : []
  if (field.fieldKind === 'map') return Object.keys(value as object).length === 0 ? value : {}
  if (field.fieldKind === 'message' || field.presence !== IMPLICIT) return undefined
  if (typeof value === 'string') return ''
  if (typeof value === 'bigint') return 0n
  if (typeof value === 'boolean') return false
  if (typeof value === 'number') return 0
  return (value as Uint8Array).length === 0 ? value : new Uint8Array()
}

/** The value of IMPLICIT in google.protobuf.FeatureSet.FieldPresence. */
const IMPLICIT = 2
