/** Keys for the `newKey` of a repository: `<prefix>-0001`, `<prefix>-0002` …, in the order of creation. */
export function fixedIds(prefix = 'id'): () => string {
  let last = 0
  return () => `${prefix}-${String(++last).padStart(4, '0')}`
}
