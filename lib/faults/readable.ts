/**
 * Any value can be thrown, such as a Proxy or a getter that throws on access. Code that reports errors must
 * not fail because of it.
 */

/** Returns a property of any value; undefined if it does not exist or cannot be read. */
export function propertyOf(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  try {
    return (value as Readonly<Record<string, unknown>>)[name]
  } catch {
    return undefined
  }
}

/** Returns `value instanceof type`, or false if the check throws. */
export function isInstance<T>(value: unknown, type: abstract new (...values: never[]) => T): value is T {
  try {
    return value instanceof type
  } catch {
    return false
  }
}

/** Returns the value itself, or an error in its place that can be passed on and logged. */
export function readable(value: unknown): unknown {
  try {
    if (value instanceof Error) void [value.name, value.message, value.stack, value.cause]
    return value
  } catch {
    return new TypeError('something unreadable was thrown')
  }
}
