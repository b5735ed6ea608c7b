import { InvalidArgument } from '../../errors.js'
import { keyPartOf, type PartValue } from '../keys/key-part.js'
import { isOwning, type OwningRelation, type RelatedClass, type Relation } from './relation.js'

type Values = Readonly<Record<string, unknown>>

/**
 * Returns the values of an entity with keys in place of related objects: `project: { id: 'p1' }` becomes
 * `projectId: 'p1'`.
 * @param keyOf - returns the key property of a class.
 * @throws InvalidArgument if both are given and differ, or if a related object has no key.
 */
export function withReferredKeys<E extends object>(
  relations: readonly Relation[],
  entity: E,
  keyOf: (target: RelatedClass) => string,
): E {
  let copy: Record<string, unknown> | undefined
  for (const relation of relations) {
    if (!isOwning(relation)) continue
    const given = (entity as Values)[relation.property]
    if (given === undefined) continue
    const { property, proto } = relation.reference
    const key = given === null ? undefined : keyIn(given, relation, keyOf)
    const own = (entity as Values)[property] ?? undefined
    if (own !== undefined && own !== key)
      throw new InvalidArgument(proto, `it differs from the key of ${relation.property}: set one of the two`)
    copy ??= Object.assign(Object.create(Object.getPrototypeOf(entity) as object | null), entity) as Record<
      string,
      unknown
    >
    copy[property] = key
  }
  return (copy as E | undefined) ?? entity
}

function keyIn(given: unknown, relation: OwningRelation, keyOf: (target: RelatedClass) => string): PartValue {
  const key = typeof given === 'object' ? (given as Values)[keyOf(relation.target())] : undefined
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'bigint') {
    const { textOf, valueOf } = keyPartOf(relation.reference)
    return valueOf(textOf(key)) ?? key
  }
  throw new InvalidArgument(
    relation.reference.proto,
    `${relation.property} has no key: pass an object with the key of the other resource`,
  )
}
