import { create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import type { Value } from '@bufbuild/protobuf/wkt'
import { InvalidArgument } from '../../errors.js'
import { checkMaskPaths } from '../../resource/mask-paths.js'
import { valueOf } from '../chain/method.js'
import { maskSteps } from '../../resource/messages/field-names.js'
import { fieldNamed } from '../../resource/messages/field-readers.js'
import {
  isObject,
  jsonOfValue,
  type Shape,
  shapeOfField,
  valueOfJson,
} from '../../resource/free-form/shape.js'
import { type Choice, isUnwrapped, type Local } from '../../resource/messages/local-field.js'

/** The fields of a read mask. An undefined branch selects the whole field. */
export type ReadTree = ReadonlyMap<DescField, Branch | undefined>

type Branch =
  | { readonly message: DescMessage; readonly tree: ReadTree }
  | { readonly keys: ReadonlyMap<string, Branch | undefined>; readonly shape?: Shape }

/**
 * Compiles the paths of a read mask (AIP-157). Returns undefined for `*`, which selects everything.
 * @throws InvalidArgument for too many paths and for a path that is not in the message.
 */
export const readTree = (paths: readonly string[], message: DescMessage): ReadTree | undefined => {
  checkMaskPaths('read_mask', paths)
  if (paths.includes('*')) return undefined
  const tree: Growing = new Map()
  for (const path of paths) add(path, tree, message)
  return tree
}

/** Returns a copy of the message with only the fields of the tree. The original is not changed. */
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
  const { keys, shape } = branch
  if (shape === 'any') {
    const picked = pickKeys(jsonOfValue(value as Value), keys)
    return picked && valueOfJson(picked)
  }
  if (shape === 'object') return pickKeys(value, keys)
  const entries = Object.entries(value as object).filter(([key]) => keys.has(key))
  return Object.fromEntries(
    entries.map(([key, held]) => {
      const below = keys.get(key)
      return [key, below === undefined ? held : pickInside(held, below)]
    }),
  )
}

/** Returns the selected members of a JSON object; undefined for any other JSON. */
const pickKeys = (json: unknown, keys: ReadonlyMap<string, Branch | undefined>): object | undefined =>
  isObject(json)
    ? Object.fromEntries(
        Object.entries(json).flatMap(([key, held]) => {
          if (!keys.has(key)) return []
          const below = keys.get(key)
          if (below === undefined) return [[key, held]]
          const picked = 'keys' in below ? pickKeys(held, below.keys) : undefined
          return picked === undefined ? [] : [[key, picked]]
        }),
      )
    : undefined

type Growing = Map<DescField, GrowingBranch | undefined>

type Keys = Map<string, GrowingBranch | undefined>

type GrowingBranch =
  { readonly message: DescMessage; readonly tree: Growing } | { readonly keys: Keys; readonly shape?: Shape }

/** Adds one path. A completely selected field stays selected, but the rest of the path is still checked. */
const add = (path: string, root: Growing, message: DescMessage): void => {
  const steps = maskSteps(message, path, fieldNamed)
  if (steps === undefined) throw unknownPath(path)
  let level: Map<unknown, GrowingBranch | undefined> | undefined = root
  let field: DescField | undefined
  for (const [index, step] of steps.entries()) {
    if ('isEach' in step) throw unknownPath(path)
    if ('field' in step) ({ field } = step)
    const at = 'field' in step ? step.field : step.key
    const isLast = index === steps.length - 1
    const below = isLast || field === undefined ? undefined : branchBelow(field, 'field' in step)
    if (isLast) return void level?.set(at, undefined)
    if (below === undefined) throw unknownPath(path)
    if (level?.has(at) !== true) level?.set(at, below)
    const known: GrowingBranch | undefined = level?.get(at)
    level = known && ('keys' in known ? known.keys : known.tree)
  }
}

/**
 * Returns the branch of paths that can be selected within a field or a map value; undefined if there are
 * none.
 */
const branchBelow = (field: DescField, isField: boolean): GrowingBranch | undefined => {
  const { message } = field
  const shape = shapeOfField(field)
  if (shape !== undefined) return { keys: new Map(), shape }
  if (isField && field.fieldKind === 'map') return { keys: new Map() }
  if (field.fieldKind === 'list' || message === undefined) return undefined
  return isUnwrapped(field) ? undefined : { message, tree: new Map() }
}

const unknownPath = (path: string): InvalidArgument =>
  new InvalidArgument('read_mask', `"${path.slice(0, 128)}" is not a field that can be read`)
