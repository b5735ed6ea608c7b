import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf'
import { fieldByEitherName } from '../../resource/messages/field-names.js'
import { maskReader, type Reader } from '../../resource/messages/field-readers.js'
import { type Readable, readableOf } from '../../resource/messages/read-mask-target.js'

/** What a request's `read_mask` applies to, and the paths that it names. */
export interface ReadMask extends Readable {
  readonly paths: Reader<readonly string[]>
}

/** The requested JSON names. Undefined below a name selects all of it. */
type Tree = ReadonlyMap<string, Tree | undefined>

/** Finds `read_mask` in the requests of a method, as a FieldMask or as repeated strings. */
export function readMaskOf({ input, output }: DescMethod): ReadMask | undefined {
  const paths = maskReader(input, 'read_mask')
  return paths && { paths, ...readableOf(output) }
}

/**
 * Removes fields that were not requested from a written response. The chain has emptied them; their zero
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

/** Proto paths as JSON names; below a map the names are keys. Each path is walked once. */
function treeOf(paths: readonly string[], message: DescMessage): Tree {
  const root: Growing = new Map()
  for (const path of paths) add(path, root, message)
  return root
}

type Growing = Map<string, Growing | undefined>

function add(path: string, root: Growing, message: DescMessage): void {
  let tree = root
  let inside: DescMessage | 'keys' | undefined = message
  let rest = path
  while (rest !== '') {
    const dot: number = inside === 'keys' ? -1 : rest.indexOf('.')
    const name: string = dot < 0 ? rest : rest.slice(0, dot)
    rest = dot < 0 ? '' : rest.slice(dot + 1)
    const field: DescField | undefined =
      typeof inside === 'object' ? fieldByEitherName(inside, name) : undefined
    const key = field?.jsonName ?? name
    const known = tree.get(key)
    if (known === undefined && tree.has(key)) return
    if (rest === '') return void tree.set(key, undefined)
    inside = field?.fieldKind === 'map' ? 'keys' : field?.message
    const below: Growing = known ?? new Map<string, Growing | undefined>()
    tree.set(key, below)
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
