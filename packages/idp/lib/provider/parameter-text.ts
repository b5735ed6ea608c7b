/** Returns a parameter of a request, or an empty string. */
export const textOf = (parameters: object | undefined, name: string): string => {
  const value: unknown = parameters === undefined ? undefined : (parameters as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : ''
}
