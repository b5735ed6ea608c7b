import { randomUUID } from 'node:crypto'
import { ErrNotFound } from '../../../errors.js'
import { isSoft, type Member } from './family.js'
import { type PlanOptions, planDeletion } from './plan-deletion.js'
import { removalOrder } from './removal-order.js'
import { byMember, type StoredRow, type StoredRows } from './stored-rows.js'
import { checkNoneIsLeft } from './what-is-left.js'

/** A row that the caller wants to delete. */
export interface Root {
  /** Returns the locked row, or undefined if the caller can reach no such row. */
  readonly find: () => Promise<StoredRow | undefined>
  /**
   * Deletes only this row, and calls its hooks.
   *
   * @param at - the time of a soft delete. Default: the current time.
   * @throws the reason if the row cannot be deleted.
   */
  readonly delete: (at?: Date) => Promise<void>
}

/**
 * Deletes rows of one resource and the rows that their relations delete. All rows are found and locked before
 * the first one is written. Creating a child meanwhile waits for the lock on its parent.
 *
 * @param roots - the rows in locking order.
 * @throws ErrPreconditionFailed if other rows refer to them.
 */
export async function deleteWithChildren(
  member: Member,
  roots: readonly Root[],
  rows: StoredRows,
  options: PlanOptions,
): Promise<void> {
  const found = new Map<StoredRow, Root>()
  for (const root of roots) {
    const row = await root.find()
    // The delete reports why there is no row.
    if (row === undefined) await root.delete()
    if (row === undefined) throw new ErrNotFound()
    found.set(row, root)
  }
  const plan = await planDeletion(rows, [...found.keys()], options)
  if (!isSoft(member)) return removeAll(rows, found, plan, options)
  for (const [index, [row, root]] of [...found].entries()) {
    const along = plan.withRoot[index] ?? []
    const at = await rows.deletionTime([row, ...along])
    await root.delete(at)
    if (along.length === 0) continue
    const deleteId = at === undefined ? randomUUID() : String(at.getTime())
    await rows.mark([row], deleteId)
    for (const some of byMember(along)) await rows.softDelete(some, deleteId)
  }
  for (const { edge, rows: of } of plan.unset) await rows.unset(edge, of)
  await checkNoneIsLeft(rows, {
    rows: [...found.keys(), ...plan.withRoot.flat()],
    unset: plan.unset,
    referring: 'live',
    tenant: options.tenant,
  })
}

/** Removes rows, children first. */
async function removeAll(
  rows: StoredRows,
  roots: ReadonlyMap<StoredRow, Root>,
  { withRoot, unset }: Awaited<ReturnType<typeof planDeletion>>,
  { tenant }: PlanOptions,
): Promise<void> {
  const all = [...roots.keys(), ...withRoot.flat()]
  const order = removalOrder(all)
  for (const one of unset) await rows.unset(one.edge, one.rows)
  for (const one of order.unset) await rows.clear(one.edge, one.rows)
  for (const group of order.groups) {
    const along = group.filter((row) => !roots.has(row))
    if (along.length > 0) await rows.remove(along)
    for (const row of group) await roots.get(row)?.delete()
  }
  await checkNoneIsLeft(rows, { rows: all, unset, referring: 'all', tenant })
}
