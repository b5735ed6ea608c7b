import { InvalidArgument } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import { maskSteps } from '../../resource/messages/field-names.js'
import { isObject } from '../../resource/free-form/shape.js'
import { setOwn } from '../../resource/messages/local-field.js'
import type { ResourceModel } from '../../resource/resource-model.js'

type Values = Record<string, unknown>

/** A mask path into free-form JSON, such as `settings.theme`. */
export interface InsidePath {
  readonly field: Field
  readonly keys: readonly string[]
}

/** Returns the field and the keys of a mask path, or undefined if it does not lead into JSON. */
export function insidePath(model: ResourceModel, path: string): InsidePath | undefined {
  const dot = path.indexOf('.')
  if (dot < 0 || model.message === undefined) return undefined
  const written = path.slice(0, dot)
  const name = model.codeNames?.get(written) ?? written
  const field = model.byProto.get(name)
  const shape = field?.json?.shape
  if (field === undefined || (shape !== 'object' && shape !== 'any')) return undefined
  const steps = maskSteps(model.message, name + path.slice(dot))?.slice(1)
  if (steps === undefined) return undefined
  return { field, keys: steps.flatMap((step) => ('key' in step ? step.key : [])) }
}

/** Returns true if a client's mask may contain the path. */
export const mayWrite = (model: ResourceModel, path: string): boolean =>
  model.writable.has(path) || insidePath(model, path)?.field.writable === true

/** The mask paths that lead into JSON, and the mask with the fields of these paths instead. */
export interface InsideMask {
  readonly paths: readonly InsidePath[]
  readonly mask: readonly string[]
}

/**
 * Returns undefined if the mask has no path into JSON.
 *
 * @throws InvalidArgument if a path lies inside another one.
 */
export function insideMask(
  model: ResourceModel,
  mask: readonly string[] | undefined,
): InsideMask | undefined {
  if (!model.hasFreeForm || mask?.some((path) => path.includes('.')) !== true) return undefined
  const paths: InsidePath[] = []
  const names = new Set<string>()
  for (const name of mask) {
    const path = insidePath(model, name)
    if (path === undefined) {
      names.add(name)
      continue
    }
    if (mask.includes(path.field.proto) || paths.some((other) => isWithin(path, other)))
      throw new InvalidArgument('update_mask', `names ${name} twice: once within a wider path`)
    paths.push(path)
    names.add(path.field.proto)
  }
  return paths.length === 0 ? undefined : { paths, mask: [...names] }
}

const isWithin = (one: InsidePath, other: InsidePath): boolean => {
  const [short, long] = one.keys.length < other.keys.length ? [one, other] : [other, one]
  return one.field === other.field && short.keys.every((key, at) => long.keys[at] === key)
}

/**
 * Returns the entity with the stored JSON of these fields, in which the values at the paths are replaced by
 * the entity's. A path without a value in the entity is removed.
 */
export function replacedInside(
  entity: Readonly<Values>,
  stored: Readonly<Values>,
  paths: readonly InsidePath[],
): Values {
  const result: Values = { ...entity }
  for (const { property } of new Set(paths.map(({ field }) => field))) result[property] = stored[property]
  for (const { field, keys } of paths) {
    const value = keys.reduce<unknown>(
      (json, key) => (isObject(json) && Object.hasOwn(json, key) ? json[key] : undefined),
      entity[field.property],
    )
    result[field.property] = replaced(result[field.property], keys, value)
  }
  return result
}

/** Returns JSON with another value at these keys. Missing objects on the way are created. */
function replaced(json: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  const held = isObject(json) ? json : undefined
  if (held === undefined && value === undefined) return json
  const copy: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(held ?? {})) setOwn(copy, name, one)
  const inner = replaced(Object.hasOwn(copy, key) ? copy[key] : undefined, rest, value)
  if (inner === undefined) Reflect.deleteProperty(copy, key)
  else setOwn(copy, key, inner)
  return copy
}
