import { hasShape, isObject, type Shape } from './shape.js'

/**
 * The maximum nesting depth of free-form JSON. MariaDB stores no more, and clients decode messages to a depth
 * of 100, of which each JSON level needs three.
 */
export const MAX_JSON_DEPTH = 31
/** The maximum size of free-form JSON in one column, in bytes. */
export const MAX_JSON_BYTES = 2 ** 20

const NAMES: Readonly<Record<Shape, string>> = { object: 'an object', array: 'an array', any: 'a JSON value' }

/**
 * Parses stored JSON. Null is an unset field.
 * @throws TypeError if a message of the shape cannot contain it.
 */
export function readFreeForm(text: string, shape: Shape): unknown {
  const json = JSON.parse(text) as unknown
  if (json === null) return null
  if (!hasShape(json, shape)) throw new TypeError(`it is not ${NAMES[shape]}`)
  if (!isRead(json, MAX_JSON_DEPTH)) throw new TypeError('a message cannot hold it')
  return json
}

/**
 * Returns true if a message can contain the JSON. Another program may have stored numbers of any size and any
 * depth.
 */
function isRead(json: unknown, levels: number): boolean {
  if (typeof json === 'number') return Number.isFinite(json)
  if (typeof json === 'string') return json.isWellFormed()
  if (typeof json !== 'object' || json === null) return true
  return (
    levels > 0 && Object.entries(json).every(([key, one]) => key.isWellFormed() && isRead(one, levels - 1))
  )
}

/**
 * Returns the problem of free-form JSON apart from its strings and numbers; undefined if a column can store
 * it.
 */
export function freeFormProblem(value: unknown, shape: Shape): string | undefined {
  if (!hasShape(value, shape)) return `must be ${NAMES[shape]}`
  const wrong = notJson(value, 0)
  if (wrong !== undefined) return wrong
  const bytes = Buffer.byteLength(JSON.stringify(value))
  return bytes > MAX_JSON_BYTES ? `has ${bytes} bytes as JSON: use at most ${MAX_JSON_BYTES}` : undefined
}

function notJson(value: unknown, depth: number): string | undefined {
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function')
    return `contains a ${typeof value}, which JSON does not have`
  if (!isObject(value) && !Array.isArray(value)) return undefined
  if (depth >= MAX_JSON_DEPTH) return `is nested deeper than ${MAX_JSON_DEPTH} levels`
  for (const element of Object.values(value)) {
    const problem = notJson(element, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}
