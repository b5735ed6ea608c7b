/** The fields a mask names, by proto name; undefined below a name means all of it. */
export type MaskTree = ReadonlyMap<string, MaskTree | undefined>

type Growing = Map<string, Growing | undefined>

/** The tree of a mask; undefined for a full update: an empty mask, or `*` (AIP-134). */
export const maskTree = (paths: readonly string[]): MaskTree | undefined => {
  if (paths.length === 0 || paths.includes('*')) return undefined
  const root: Growing = new Map()
  for (const path of paths) add(path.split('.'), root)
  return root
}

const add = (names: readonly string[], root: Growing): void => {
  let tree = root
  for (const [index, name] of names.entries()) {
    const below = tree.get(name)
    if (below === undefined && tree.has(name)) return
    if (index === names.length - 1) return void tree.set(name, undefined)
    const next: Growing = below ?? new Map<string, Growing | undefined>()
    tree.set(name, next)
    tree = next
  }
}

/**
 * The part of a mask inside an element of a list or a map: after `*` or the key (AIP-161), or directly after
 * the field.
 */
export const inElement = (tree: MaskTree, key: string): MaskTree | undefined => {
  for (const name of ['*', key]) if (tree.has(name)) return tree.get(name)
  return tree
}
