/** Elements of lists and maps in a message, at whatever depth; counting stops above `most`. */
export const hasMoreElements = (message: object, most: number): boolean => {
  let left = most
  const count = (value: unknown): void => {
    if (left < 0 || typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return
    if (Array.isArray(value)) {
      left -= value.length
      if (left >= 0) value.forEach(count)
      return
    }
    for (const key in value) {
      // Of a message these are fields, and few; of a map they are entries.
      left -= 1
      if (left < 0) return
      count((value as Record<string, unknown>)[key])
    }
  }
  count(message)
  return left < 0
}
