/**
 * Anything can be thrown: a Proxy that throws on every access, an error with a getter that throws. Code that
 * reports errors must not fail because of it.
 */

/** A property of any value; undefined when there is none, or when reading it throws. */
export function propertyOf(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  try {
    return (value as Readonly<Record<string, unknown>>)[name]
  } catch {
    return undefined
  }
}

/** `instanceof`, and false when that throws. */
export function isInstance<T>(value: unknown, type: abstract new (...values: never[]) => T): value is T {
  try {
    return value instanceof type
  } catch {
    return false
  }
}

/** The value itself, or an error in its place that can be passed on and logged. */
export function readable(value: unknown): unknown {
  try {
    if (value instanceof Error) void [value.name, value.message, value.stack, value.cause]
    return value
  } catch {
    return new TypeError('something unreadable was thrown')
  }
}
