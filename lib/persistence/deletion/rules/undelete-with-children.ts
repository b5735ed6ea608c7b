import { ErrConflict } from '../../../errors.js'
import { constraintError } from '../../engines/errors/constraint-error.js'
import { comesBack, type Member } from './family.js'
import { mayReach, type UndeletionOptions } from './plan-deletion.js'
import { mayNotUndelete, takenMeanwhile, tooManyRows } from './refused-deletion.js'
import { byMember, RowSet, type StoredRow, type StoredRows } from './stored-rows.js'
import { checkParents, checkParentsLive } from './what-is-left.js'

/** A deleted row that the caller wants to undelete. */
export interface DeletedRoot<E> {
  /** Returns the locked row, or undefined if the caller can reach no such row. */
  readonly find: () => Promise<StoredRow | undefined>
  /**
   * Undeletes only this row and calls its hooks.
   *
   * @throws the reason if the row cannot be undeleted.
   */
  readonly undelete: () => Promise<E>
}

/**
 * Undeletes a row and exactly the rows that were deleted with it.
 *
 * @throws ErrPreconditionFailed if one of them refers to a deleted row that is not restored. A row that the
 *   caller may not
 * refer to is reported as deleted.
 * @throws ErrConflict if another row uses a unique value of one of them.
 */
export async function undeleteWithChildren<E>(
  root: DeletedRoot<E>,
  rows: StoredRows,
  options: UndeletionOptions,
): Promise<E> {
  const row = await root.find()
  if (row === undefined || !row.isDeleted) return root.undelete()
  const along = row.deleteId === undefined ? [] : await deletedWith(rows, row, row.deleteId, options)
  const all = new RowSet([row, ...along])
  const { references } = options
  await checkParents(rows, all, row, undefined, references)
  for (const one of along) await checkParents(rows, all, one, one.key, references)
  if (row.deleteId !== undefined) await rows.mark([row], undefined)
  const restored = await root.undelete()
  for (const some of byMember(along))
    for (const group of some[0] !== undefined && isAnyUnique(some[0].member)
      ? some.map((one) => [one])
      : [some])
      await rows.restore(group).catch((error: unknown) => {
        const [first] = group
        const conflict = constraintError(error)
        if (!(conflict instanceof ErrConflict) || first === undefined) throw error
        throw takenMeanwhile(first.member.model.type, first.key, conflict)
      })
  await checkParentsLive(rows, row, all, references)
  return restored
}

/** Rows with unique values are restored one at a time, so that an error can name the conflicting row. */
const isAnyUnique = ({ model }: Member): boolean => model.uniques.length > 0

async function deletedWith(
  rows: StoredRows,
  root: StoredRow,
  deleteId: string,
  { most, tenant, access }: UndeletionOptions,
): Promise<StoredRow[]> {
  const found = new RowSet([root])
  const which = { state: { deleteId } }
  for (let level: StoredRow[] = [root]; level.length > 0;) {
    const next: StoredRow[] = []
    for (const parents of byMember(level))
      for (const edge of (parents[0]?.member.children ?? []).filter(comesBack)) {
        const limit = most - found.size + found.countOf(edge.child) + 1
        const fresh = (await rows.find(edge, parents, which, limit)).filter((row) => found.add(row))
        if (found.size > most) throw tooManyRows(root.member.model.type, most)
        if (fresh.length === 0) continue
        const isForeign =
          tenant !== undefined && fresh.some((row) => row.tenant !== undefined && row.tenant !== tenant)
        const limits = await access?.change(edge.child.model)
        if (isForeign || (limits && !(await mayReach(rows, limits, edge, parents, which, fresh))))
          throw mayNotUndelete(edge.child.model.type)
        next.push(...fresh)
      }
    level = next
  }
  return [...found].filter((row) => row !== root)
}
