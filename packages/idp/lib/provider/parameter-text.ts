/** A parameter of a request; empty where there is none. */
export const textOf = (parameters: object | undefined, name: string): string => {
  const value: unknown = parameters === undefined ? undefined : (parameters as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : ''
}
