import type { Inside } from '../../resource/fields/field.js'
import { hasShape, isObject } from '../../resource/free-form/shape.js'
import { rulesOf } from '../query/plan-rules.js'
import type { PlanColumn, PlanValue } from '../query/query-plan.js'

/** Returns the value of stored JSON, or undefined if there is none. */
export const jsonOf = (text: unknown): unknown =>
  typeof text === 'string' ? (JSON.parse(text) as unknown) : undefined

/** Returns a field of a message for filters, like the SQL of a dialect. */
export const valueInside = (
  json: unknown,
  column: PlanColumn,
  { keys, zero, path }: Inside,
): PlanValue | undefined => {
  if (path !== undefined) return leafOf(descend(json, [...keys, ...path]) ?? undefined, column, path)
  const around = descend(json, keys.slice(0, -1))
  const value = descend(around, keys.slice(-1)) ?? undefined
  const { isNested, inside } = rulesOf(column)
  if (isNested) return isObject(value) ? true : undefined
  return value === undefined ? (isObject(around) ? zero : undefined) : inside?.value(value)
}

/** Returns a leaf of free-form JSON. For a column with a shape, returns true if the JSON has it. */
const leafOf = (value: unknown, column: PlanColumn, path: readonly string[]): PlanValue | undefined => {
  const { isNested, inside } = rulesOf(column)
  if (!isNested) return value === undefined ? undefined : inside?.value(value)
  const shape = path.length > 0 ? 'any' : (column.json?.shape ?? 'any')
  return value !== undefined && hasShape(value, shape) ? true : undefined
}

const descend = (json: unknown, keys: readonly string[]): unknown => {
  let value = json
  for (const key of keys) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value
}
