import type { DescMessage, DescMethod } from '@bufbuild/protobuf'
import { maskSteps } from '../../resource/messages/field-names.js'
import { maskReader, type Reader } from '../../resource/messages/field-readers.js'
import { type Readable, readableOf } from '../../resource/messages/read-mask-target.js'

/** The `read_mask` of a request and the message to which it applies. */
export interface ReadMask extends Readable {
  readonly paths: Reader<readonly string[]>
}

/** The requested JSON names. An undefined subtree selects the whole field. */
type Tree = ReadonlyMap<string, Tree | undefined>

/**
 * Returns the `read_mask` of a method's request, which is a FieldMask or a repeated string; undefined if
 * there is none.
 */
export function readMaskOf({ input, output }: DescMethod): ReadMask | undefined {
  const paths = maskReader(input, 'read_mask')
  return paths && { paths, ...readableOf(output) }
}

/**
 * Removes fields that were not requested from an encoded response. The chain has cleared them, but their zero
 * values would look like real ones.
 */
export function prune(text: string, { items, message }: ReadMask, paths: readonly string[]): string {
  if (paths.length === 0 || paths.includes('*')) return text
  const tree = treeOf(paths, message)
  const json = JSON.parse(text) as Record<string, unknown>
  if (items === undefined) return JSON.stringify(pick(json, tree))
  const all = (json[items.jsonName] ?? []) as readonly unknown[]
  return JSON.stringify({ ...json, [items.jsonName]: all.map((item) => pick(item, tree)) })
}

/** Converts proto paths to JSON names. Below a map the names are keys. Each path is processed once. */
function treeOf(paths: readonly string[], message: DescMessage): Tree {
  const root: Growing = new Map()
  for (const path of paths) add(path, root, message)
  return root
}

type Growing = Map<string, Growing | undefined>

function add(path: string, root: Growing, message: DescMessage): void {
  let tree = root
  // The chain has rejected paths that are not in the message.
  const steps = maskSteps(message, path) ?? []
  for (const [index, step] of steps.entries()) {
    const name = 'field' in step ? step.field.jsonName : 'key' in step ? step.key : '*'
    const known = tree.get(name)
    if (known === undefined && tree.has(name)) return
    if (index === steps.length - 1) return void tree.set(name, undefined)
    const below: Growing = known ?? new Map<string, Growing | undefined>()
    tree.set(name, below)
    tree = below
  }
}

function pick(json: unknown, tree: Tree): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json
  return Object.fromEntries(
    Object.entries(json)
      .filter(([name]) => tree.has(name))
      .map(([name, value]) => {
        const below = tree.get(name)
        return [name, below === undefined ? value : pick(value, below)]
      }),
  )
}
