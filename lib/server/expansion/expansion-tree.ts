import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import type { ReadableRelation, ReadableRelations } from './readable-relations.js'

/** The maximum number of relations in one path. */
export const MAX_EXPANSION_DEPTH = 3
/** The maximum number of relations in one mask. Each runs a statement. */
export const MAX_EXPANSIONS = 12

/** The fields to expand in messages of one type. */
export type ExpansionTree = ReadonlyMap<DescField, Expansion>

export interface Expansion {
  /** Undefined for a nested message that is stored with its parent. */
  readonly relation: ReadableRelation | undefined
  readonly below: ExpansionTree
}

type Growing = Map<DescField, { readonly relation: ReadableRelation | undefined; readonly below: Growing }>

/** Returns true if messages of the type can contain a readable relation at any depth. */
export const holdsRelation = (
  desc: DescMessage,
  { byMessage }: Pick<ReadableRelations, 'byMessage'>,
  seen = new Set<DescMessage>(),
): boolean => {
  if (byMessage.size === 0 || seen.has(desc)) return false
  seen.add(desc)
  if (byMessage.has(desc.typeName)) return true
  return desc.fields.some(
    (field) => field.fieldKind === 'message' && holdsRelation(field.message, { byMessage }, seen),
  )
}

/**
 * Returns the relations that the paths of a read mask expand; undefined if there are none. Paths use the
 * names of message fields.
 * @throws InvalidArgument for too many relations or levels.
 */
export const expansionTree = (
  paths: readonly string[],
  message: DescMessage,
  { byMessage }: Pick<ReadableRelations, 'byMessage'>,
): ExpansionTree | undefined => {
  const root: Growing = new Map()
  let count = 0
  for (const path of paths) {
    let inside = message
    let depth = 0
    // Only fields that lead to a relation are added to the tree.
    const way: (readonly [DescField, ReadableRelation | undefined])[] = []
    let level = root
    for (const name of path.split('.')) {
      const field = inside.fields.find((one) => one.name === name)
      if (field?.fieldKind !== 'message') break
      const relation = byMessage.get(inside.typeName)?.find((one) => one.field === field)
      way.push([field, relation])
      inside = field.message
      if (relation === undefined) continue
      if (++depth > MAX_EXPANSION_DEPTH)
        throw new InvalidArgument(
          'read_mask',
          `"${path.slice(0, 128)}" leads through more than ${MAX_EXPANSION_DEPTH} resources: read the rest separately`,
        )
      for (const [step, by] of way.splice(0)) {
        let known = level.get(step)
        if (known === undefined) {
          level.set(step, (known = { relation: by, below: new Map() }))
          if (by !== undefined && ++count > MAX_EXPANSIONS)
            throw new InvalidArgument(
              'read_mask',
              `leads into more than ${MAX_EXPANSIONS} resources: name fewer`,
            )
        }
        level = known.below
      }
    }
  }
  return root.size === 0 ? undefined : root
}
