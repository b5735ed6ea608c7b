export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Parses a JSON object. Returns undefined for other strings. */
export function jsonIn(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) ? body : undefined
  } catch {
    return undefined
  }
}
