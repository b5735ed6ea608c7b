import type { Field } from '../fields/field.js'
import type { OwningRelation } from './relation.js'
import type { NamePattern } from '../names/name-pattern.js'

/** A variable that the name of a resource shares with the name of its parent. */
export interface SharedPart {
  /** The resource's field. */
  readonly own: Field
  /** The parent's field. */
  readonly target: Field
}

const NONE: readonly SharedPart[] = []

interface Named {
  readonly name: NamePattern | undefined
}

/**
 * Returns the values that a resource and the target of a relation must share in addition to the referenced
 * key. They exist if the target's pattern is a prefix of the resource's pattern. For
 * `shelves/{shelf}/books/{book}/pages/{page}` and its book, that is the shelf. The tenant is omitted, because
 * a reference never crosses tenants.
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
 * Returns true if a write changes the target of a reference: the reference itself, or a part of the target's
 * name.
 */
export const isWritten = (
  { reference }: OwningRelation,
  parts: readonly SharedPart[],
  written: object,
): boolean =>
  Object.hasOwn(written, reference.property) || parts.some(({ own }) => Object.hasOwn(written, own.property))
