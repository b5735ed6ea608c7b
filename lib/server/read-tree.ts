import { create, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../errors.js'
import { fieldNamed, valueOf } from './method.js'

/** The fields a read mask asks for; undefined below a field means all of it. */
export type ReadTree = ReadonlyMap<DescField, Branch | undefined>

interface Branch {
  readonly message: DescMessage | undefined
  readonly tree: ReadTree | undefined
  /** Keys of a map field. */
  readonly keys: ReadonlySet<string> | undefined
}

/**
 * Compiles the paths of a read mask (AIP-157). `*` asks for everything: undefined.
 * @throws InvalidArgument for a path that is not in the message.
 */
export const readTree = (paths: readonly string[], message: DescMessage): ReadTree | undefined =>
  paths.includes('*') ? undefined : branchesOf(paths, message, '')

/** A copy of the message that has the fields of the tree and no others; output is never changed in place. */
export const pick = (message: Message, tree: ReadTree, desc: DescMessage): Message => {
  const copy = create(desc) as unknown as Record<string, unknown>
  for (const [field, branch] of tree) {
    if (field.oneof === undefined) {
      const value = valueOf(message, field)
      copy[field.localName] = branch === undefined ? value : pickInside(value, branch)
      continue
    }
    const choice = (message as unknown as Record<string, { case?: string; value?: unknown }>)[
      field.oneof.localName
    ]
    if (choice?.case !== field.localName) continue
    const value = branch === undefined ? choice.value : pickInside(choice.value, branch)
    copy[field.oneof.localName] = { case: choice.case, value }
  }
  return copy as unknown as Message
}

const pickInside = (value: unknown, { message, tree, keys }: Branch): unknown => {
  if (value === undefined) return undefined
  if (keys !== undefined) {
    return Object.fromEntries(Object.entries(value as object).filter(([key]) => keys.has(key)))
  }
  return message === undefined || tree === undefined ? value : pick(value as Message, tree, message)
}

const branchesOf = (paths: readonly string[], message: DescMessage, prefix: string): ReadTree => {
  const below = new Map<DescField, string[] | undefined>()
  for (const path of paths) {
    const [name = '', ...rest] = path.split('.')
    const field = fieldNamed(message, name)
    if (field === undefined) throw unknownPath(`${prefix}${path}`)
    const known = below.get(field)
    if (rest.length === 0 || (below.has(field) && known === undefined)) below.set(field, undefined)
    else below.set(field, [...(known ?? []), rest.join('.')])
  }
  return new Map([...below].map(([field, rest]) => [field, branchOf(field, rest, `${prefix}${field.name}.`)]))
}

const branchOf = (
  field: DescField,
  rest: readonly string[] | undefined,
  prefix: string,
): Branch | undefined => {
  if (rest === undefined) return undefined
  if (field.fieldKind === 'map') return { message: undefined, tree: undefined, keys: new Set(rest) }
  if (field.fieldKind !== 'message') throw unknownPath(`${prefix}${rest[0] ?? ''}`)
  return { message: field.message, tree: branchesOf(rest, field.message, prefix), keys: undefined }
}

const unknownPath = (path: string): InvalidArgument =>
  new InvalidArgument('read_mask', `"${path.slice(0, 128)}" is not a field that can be read`)
