/** Returns a generator for a repository's `newKey` option: `<prefix>-0001`, `<prefix>-0002` and so on. */
export function fixedIds(prefix = 'id'): () => string {
  let last = 0
  return () => `${prefix}-${String(++last).padStart(4, '0')}`
}
