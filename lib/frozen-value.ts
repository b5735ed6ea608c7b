/** Returns true for an object without a class. */
export const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** Returns a frozen deep copy. Only lists and plain objects are copied. */
export const frozenValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenValue))
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([name, each]) => [name, frozenValue(each)])),
  )
}

/** Returns the strings in a list; empty for any other value. */
export const frozenTexts = (value: unknown): readonly string[] => {
  const found: string[] = []
  if (Array.isArray(value)) for (const one of value) if (typeof one === 'string') found.push(one)
  return Object.freeze(found)
}
