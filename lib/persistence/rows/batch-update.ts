import { ErrNotFound } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { inKeyOrder, type Patched } from '../contract/batch.js'
import type { Values } from '../contract/new-entity.js'
import type { RowCall } from './row-call.js'
import type { Reach } from '../contract/scope.js'
import { type Batches, FOR_WRITE, type Rows } from './rows.js'

/**
 * Writes a batch with one statement per set of fields. Every statement locks its rows in key order. If there
 * are several, all rows are locked first. This prevents deadlocks between two batches.
 *
 * @throws ErrNotFound if a key has no live row. The caller's transaction must then roll back.
 */
export async function updateInGroups<E extends object, C extends RowCall>(
  rows: Pick<Rows<E, C>, 'batchGet'>,
  batches: Batches<E, C>,
  model: ResourceModel,
  call: C,
  patches: readonly Patched[],
  reach: Reach,
): Promise<E[]> {
  const sorted = inKeyOrder(patches, model.keys)
  let groups = sameFields(sorted)
  const uniques = uniquesWritten(model, sorted)
  if (sorted.length > 1 && (groups.length > 1 || uniques.length > 0)) {
    const keys = sorted.map(({ key }) => key)
    const stored = await rows.batchGet(call, keys, reach, { lock: FOR_WRITE })
    if (stored.length < keys.length) throw new ErrNotFound()
    if (uniques.some(({ fields }) => isPassedOn(fields, model, sorted, stored)))
      groups = sorted.map((patched) => [patched])
  }
  const updated: E[] = []
  for (const group of groups) {
    const entities = await batches.batchUpdate(call, group, reach)
    for (const [i, { index }] of group.entries()) {
      const entity = entities[i]
      if (entity === undefined) throw new ErrNotFound()
      updated[index] = entity
    }
  }
  return updated
}

const uniquesWritten = ({ uniques }: ResourceModel, patches: readonly Patched[]): ResourceModel['uniques'] =>
  uniques.filter(({ fields }) =>
    fields.some(({ property }) => patches.some(({ patch }) => Object.hasOwn(patch, property))),
  )

/**
 * Returns true if an item takes over the unique value of another. The engine checks uniqueness row by row,
 * and the order of rows within one statement depends on the plan. So it would be undefined whether the value
 * is free in time.
 */
function isPassedOn(
  fields: readonly Field[],
  model: ResourceModel,
  patches: readonly Patched[],
  stored: readonly object[],
): boolean {
  if (!fields.every((field) => model.entityFields.includes(field))) return true
  const valueOf = (row: Values | undefined, patch: Values = {}) =>
    JSON.stringify(
      fields.map(({ property }) => comparable((Object.hasOwn(patch, property) ? patch : row)?.[property])),
    )
  const rows = new Map(stored.map((row) => [model.keys.textOf(row), row as Values]))
  const owners = new Map([...rows].map(([key, row]) => [valueOf(row), key]))
  return patches.some(({ key, patch }) => {
    const owner = owners.get(valueOf(rows.get(key), patch))
    return owner !== undefined && owner !== key
  })
}

const comparable = (value: unknown): unknown => {
  if (typeof value === 'bigint') return `${value}n`
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value ?? null)
}

const shapeOf = ({ patch }: Patched): string => Object.keys(patch).join(' ')

/** Groups items that write the same fields, so that one statement can write each group. */
function sameFields(patches: readonly Patched[]): readonly Patched[][] {
  const groups = new Map<string, Patched[]>()
  for (const patched of patches) {
    const shape = shapeOf(patched)
    const group = groups.get(shape)
    if (group === undefined) groups.set(shape, [patched])
    else group.push(patched)
  }
  return [...groups.values()]
}
