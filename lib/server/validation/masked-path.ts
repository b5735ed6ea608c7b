import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import { getField } from '../../resource/messages/local-field.js'
import { isSetByServer } from '../../resource/behavior/field-behavior.js'
import { maskToWrite } from '../methods/resource-request.js'
import { inElement, type MaskTree, maskTree } from './mask-tree.js'
import { type UpdateRequest, updateRequest } from './update-request.js'

/** One step of a protobuf-es path. */
export type PathStep =
  | DescField
  | { readonly kind: 'list_sub'; readonly index: number }
  | { readonly kind: 'map_sub'; readonly key: unknown }
  | { readonly kind: 'oneof' | 'extension' }

const updates = new WeakMap<DescMessage, UpdateRequest | undefined>()

const updateOf = (desc: DescMessage): UpdateRequest | undefined => {
  if (!updates.has(desc)) updates.set(desc, updateRequest(desc))
  return updates.get(desc)
}

/**
 * Returns true if the client must set the path. It need not in two cases:
 * - The mask of an update omits the path. A rule about the whole resource does not apply either, because an
 *   update with a mask does not write the whole resource.
 * - The server sets the field and the client did not.
 */
export const isAsked = (
  desc: DescMessage,
  request: Message,
  path: readonly PathStep[],
  ignoredMask: readonly string[],
): boolean => {
  let inside: DescMessage | undefined = desc
  let value: unknown = request
  for (const [index, step] of path.entries()) {
    if (step.kind === 'field') {
      const update: UpdateRequest | undefined = inside && updateOf(inside)
      if (update !== undefined && update.resource === step) {
        const ignored = index === 0 ? ignoredMask : []
        const { paths, touchOnly } = maskToWrite(update.mask(value as Message), ignored)
        if (touchOnly) return false
        const tree = maskTree(paths)
        if (tree !== undefined) return isUnder(tree, path.slice(index + 1))
      }
      value = getField(value as Message, step)
      if (isSetByServer(step) && isNothing(value)) return false
      inside = step.message
    } else if (step.kind === 'list_sub') value = (value as readonly unknown[])[step.index]
    else if (step.kind === 'map_sub') value = (value as Record<string, unknown>)[String(step.key)]
    else return true
    if (typeof value !== 'object' || value === null) return true
  }
  return true
}

const isNothing = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : !value

const isUnder = (tree: MaskTree, path: readonly PathStep[]): boolean => {
  let below: MaskTree | undefined = tree
  for (const step of path) {
    if (step.kind === 'field') {
      if (!below.has(step.name)) return false
      below = below.get(step.name)
    } else if (step.kind === 'list_sub') below = inElement(below, '*')
    else if (step.kind === 'map_sub') below = inElement(below, String(step.key))
    else return false
    if (below === undefined) return true
  }
  return false
}
