import { ErrNotFound } from '../errors.js'
import { inKeyOrder, type Patched } from './batch.js'
import type { ResourceModel } from '../resource/resource-model.js'
import type { Executor, RunOptions } from './executor.js'
import type { RowStore } from './row-store.js'

/**
 * Writes a batch with one statement for each set of fields. Every statement locks its rows in key order; where there are
 * several, all rows are locked first, so that two batches never wait for each other.
 * @throws ErrNotFound when one of the keys has no live row; the caller's transaction takes the rest back.
 */
export async function updateInGroups<E extends object>(
  rows: RowStore<E>,
  on: Executor,
  patches: readonly Patched[],
  tenant: string | undefined,
  run: RunOptions,
): Promise<E[]> {
  const sorted = inKeyOrder(patches)
  const groups = writesUnique(rows.model, sorted) ? runsOf(sorted) : sameFields(sorted)
  if (groups.length > 1) {
    const keys = sorted.map(({ key }) => key)
    await rows.batchGet(on, keys, tenant, run, true)
  }
  const updated: E[] = []
  for (const group of groups) {
    const entities = await rows.batchUpdate(on, group, tenant, run)
    for (const [i, { index }] of group.entries()) {
      const entity = entities[i]
      if (entity === undefined) throw new ErrNotFound()
      updated[index] = entity
    }
  }
  return updated
}

/** Unique values are checked row by row, so that the order of the rows counts. */
const writesUnique = ({ uniques }: ResourceModel, patches: readonly Patched[]): boolean =>
  uniques.some((fields) =>
    fields.some(({ property }) => patches.some(({ patch }) => Object.hasOwn(patch, property))),
  )

/** Neighbours that write the same fields. */
function runsOf(patches: readonly Patched[]): readonly Patched[][] {
  const runs: Patched[][] = []
  let last = ''
  for (const patched of patches) {
    const shape = shapeOf(patched)
    if (runs.length === 0 || shape !== last) runs.push([])
    runs.at(-1)?.push(patched)
    last = shape
  }
  return runs
}

const shapeOf = ({ patch }: Patched): string => Object.keys(patch).join(' ')

/** Items that write the same fields, which one statement can write. */
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
