import { create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import { checkMaskPaths } from '../../resource/mask-paths.js'
import { valueOf } from '../chain/method.js'
import { fieldNamed } from '../../resource/messages/field-readers.js'
import type { Choice, Local } from '../../resource/messages/local-field.js'

/** The fields of a read mask; undefined below a field selects all of it. */
export type ReadTree = ReadonlyMap<DescField, Branch | undefined>

type Branch =
  { readonly message: DescMessage; readonly tree: ReadTree } | { readonly keys: ReadonlySet<string> }

/**
 * Compiles the paths of a read mask (AIP-157). `*` selects everything: undefined.
 * @throws InvalidArgument for a path that is not in the message, and for too many paths.
 */
export const readTree = (paths: readonly string[], message: DescMessage): ReadTree | undefined => {
  checkMaskPaths('read_mask', paths)
  if (paths.includes('*')) return undefined
  const tree: Growing = new Map()
  for (const path of paths) add(path, tree, message)
  return tree
}

/** A copy of the message with only the fields of the tree. The original is never changed. */
export const pick = (message: Message, tree: ReadTree, desc: DescMessage): Message => {
  const copy = create(desc) as Local
  for (const [field, branch] of tree) {
    if (field.oneof === undefined) {
      const value = valueOf(message, field)
      copy[field.localName] = branch === undefined ? value : pickInside(value, branch)
      continue
    }
    const choice = (message as Local)[field.oneof.localName] as Choice | undefined
    if (choice?.case !== field.localName) continue
    const value = branch === undefined ? choice.value : pickInside(choice.value, branch)
    copy[field.oneof.localName] = { case: choice.case, value }
  }
  return copy
}

const pickInside = (value: unknown, branch: Branch): unknown => {
  if (value === undefined) return undefined
  if ('tree' in branch) return pick(value as Message, branch.tree, branch.message)
  return Object.fromEntries(Object.entries(value as object).filter(([key]) => branch.keys.has(key)))
}

type Growing = Map<DescField, GrowingBranch | undefined>

type GrowingBranch =
  { readonly message: DescMessage; readonly tree: Growing } | { readonly keys: Set<string> }

/**
 * Walks one path, once. A field that is selected completely stays so; the rest of the path is still checked.
 */
const add = (path: string, root: Growing, message: DescMessage): void => {
  let tree: Growing | undefined = root
  let inside = message
  let behind = 0
  const names = path.split('.')
  for (const [index, name] of names.entries()) {
    const field = fieldNamed(inside, name)
    if (field === undefined) throw unknownPath(path)
    behind += name.length + 1
    if (index === names.length - 1) return void tree?.set(field, undefined)
    const known: GrowingBranch | undefined = tree?.get(field)
    const isWhole = known === undefined && (tree?.has(field) ?? true)
    if (field.fieldKind === 'map') {
      // A key may contain dots.
      const key = path.slice(behind)
      if (known !== undefined && 'keys' in known) known.keys.add(key)
      else if (!isWhole) tree?.set(field, { keys: new Set([key]) })
      return
    }
    if (field.fieldKind !== 'message') throw unknownPath(path)
    inside = field.message
    if (isWhole) tree = undefined
    else if (known !== undefined && 'tree' in known) tree = known.tree
    else {
      const below: Growing = new Map()
      tree?.set(field, { message: inside, tree: below })
      tree = below
    }
  }
}

const unknownPath = (path: string): InvalidArgument =>
  new InvalidArgument('read_mask', `"${path.slice(0, 128)}" is not a field that can be read`)
