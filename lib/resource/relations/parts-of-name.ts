import type { Field } from '../fields/field.js'
import type { OwningRelation } from './relation.js'
import type { NamePattern } from '../names/name-pattern.js'

/** A part that the names of a resource and of one that it is in have in common. */
export interface SharedPart {
  /** Of the resource. */
  readonly own: Field
  /** Of the resource that it is in. */
  readonly target: Field
}

const NONE: readonly SharedPart[] = []

interface Named {
  readonly name: NamePattern | undefined
}

/**
 * The values that a resource and the target of a relation must share, besides the key in the reference: the
 * target's pattern is the beginning of the resource's pattern. For
 * `shelves/{shelf}/books/{book}/pages/{page}` and its book, that is the shelf. The tenant is left out,
 * because a reference never leaves it.
 */
export function sharedParts(
  { name }: Named,
  { reference }: OwningRelation,
  target: Named,
): readonly SharedPart[] {
  const above = target.name
  if (name === undefined || above === undefined) return NONE
  const last = above.variables.length - 1
  const begins = above.segments.every(({ kind, text }, at) => {
    const segment = name.segments[at]
    return segment?.kind === kind && (kind === 'variable' || segment.text === text)
  })
  if (!begins || name.variables[last]?.field.property !== reference.property) return NONE
  return above.variables.slice(0, last).flatMap(({ field }, at): SharedPart[] => {
    const own = name.variables[at]?.field
    const isTenant = own === undefined || (own.role === 'tenant' && field.role === 'tenant')
    return isTenant ? [] : [{ own, target: field }]
  })
}

/**
 * True if a write changes what a reference refers to: the reference itself, or a part of the name of its
 * target.
 */
export const isWritten = (
  { reference }: OwningRelation,
  parts: readonly SharedPart[],
  written: object,
): boolean =>
  Object.hasOwn(written, reference.property) || parts.some(({ own }) => Object.hasOwn(written, own.property))
