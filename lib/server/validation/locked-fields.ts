import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { behaves, holdsField, isImmutable } from '../../resource/behavior/field-behavior.js'

/** The reason why a mask must not name a field. */
export interface Locked {
  readonly reason: 'IMMUTABLE' | 'IDENTIFIER'
  readonly text: string
}

const IMMUTABLE: Locked = { reason: 'IMMUTABLE', text: 'it never changes after the create' }
const IDENTIFIER: Locked = { reason: 'IDENTIFIER', text: 'it identifies the resource' }

/**
 * Returns a test for the fields that a mask of the resource must not name: IMMUTABLE fields and its own
 * IDENTIFIER (AIP-203). Undefined if there are none.
 */
export const lockedBy = (resource: DescMessage): ((path: string) => Locked | undefined) | undefined => {
  const identifiers = new Set(resource.fields.filter(isIdentifier).map(({ name }) => name))
  const locks = locksOf(resource)
  if (identifiers.size === 0 && locks === undefined) return undefined
  return (path) => {
    const names = path.split('.')
    if (identifiers.has(names[0] as string)) return IDENTIFIER
    return isLocked(locks, names) ? IMMUTABLE : undefined
  }
}

/** A message's IMMUTABLE fields, and the fields that contain messages with such fields, by proto name. */
type Locks = ReadonlyMap<string, Lock>

interface Lock {
  readonly isImmutable: boolean
  readonly inner: Locks | undefined
  /** True for a list or a map, whose name is followed by `*` or a key in a mask (AIP-161). */
  readonly isMany: boolean
}

const isIdentifier = (field: DescField): boolean => behaves(field, 'IDENTIFIER')

const known = new WeakMap<DescMessage, Locks>()

const locksOf = (desc: DescMessage): Locks | undefined => {
  const before = known.get(desc)
  if (before !== undefined) return before
  if (!holdsField(desc, isImmutable)) return undefined
  const locks = new Map<string, Lock>()
  // The locks are registered before the fields are read, because messages can be recursive.
  known.set(desc, locks)
  for (const field of desc.fields) {
    const inner = field.message && locksOf(field.message)
    if (isImmutable(field) || inner !== undefined)
      locks.set(field.name, {
        isImmutable: isImmutable(field),
        inner,
        isMany: field.fieldKind !== 'message',
      })
  }
  return locks
}

const isLocked = (locks: Locks | undefined, names: readonly string[]): boolean => {
  let inside = locks
  for (let at = 0; at < names.length && inside !== undefined; at++) {
    const lock: Lock | undefined = inside.get(names[at] as string)
    if (lock?.isImmutable === true) return true
    inside = lock?.inner
    if (lock?.isMany === true) at++
  }
  return false
}
