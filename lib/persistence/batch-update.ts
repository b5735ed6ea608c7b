import { ErrNotFound } from '../errors.js'
import type { Patched } from './batch.js'
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
  const groups = sameFields(patches)
  if (groups.length > 1) {
    const keys = patches.map(({ key }) => key)
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

/** Items that write the same fields, which one statement can write. */
function sameFields(patches: readonly Patched[]): readonly Patched[][] {
  const groups = new Map<string, Patched[]>()
  for (const patched of patches) {
    const shape = Object.keys(patched.patch).join(' ')
    const group = groups.get(shape)
    if (group === undefined) groups.set(shape, [patched])
    else group.push(patched)
  }
  return [...groups.values()]
}
