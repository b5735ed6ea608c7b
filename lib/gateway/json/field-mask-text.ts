import { JsonFault } from './fault.js'

/** `displayName` → `display_name`, by the JSON mapping of FieldMask. */
export const toSnakeCase = (path: string): string =>
  path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `display_name` → `displayName`. */
export const toCamelCase = (path: string): string =>
  path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Reads the paths of a FieldMask in JSON: comma-separated and lowerCamelCase. */
export function readMaskPaths(text: string): string[] {
  if (text === '') return []
  const paths = text.split(',')
  if (paths.some((path) => path === '' || path.includes('_')))
    throw new JsonFault('expected comma-separated lowerCamelCase paths, such as "displayName,size"')
  return paths.map(toSnakeCase)
}

/** @throws RangeError for a path that would read back as another. */
export function writeMaskPaths(paths: readonly string[]): string {
  if (!Array.isArray(paths)) throw new RangeError('the paths of a mask are no array')
  return Array.from(paths as readonly unknown[], (path) => {
    if (typeof path !== 'string') throw new RangeError('a mask path is no string')
    const camel = toCamelCase(path)
    if (toSnakeCase(camel) !== path || /[_,]/.test(camel))
      throw new RangeError('a mask path has no lowerCamelCase form')
    return camel
  }).join(',')
}
