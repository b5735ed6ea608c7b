/** The fields that a mask names, by proto name; undefined below a name means the whole field. */
export type MaskTree = ReadonlyMap<string, MaskTree | undefined>

type Growing = Map<string, Growing | undefined>

/** Returns the tree of a mask; undefined for a full update, whose mask is empty or `*` (AIP-134). */
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
 * Returns the part of a mask that applies inside an element of a list or map: after `*` or the key (AIP-161),
 * or directly after the field.
 */
export const inElement = (tree: MaskTree, key: string): MaskTree | undefined => {
  for (const name of ['*', key]) if (tree.has(name)) return tree.get(name)
  return tree
}
