import type { ReferenceAccess, RowLimits } from '../../contract/related-options.js'
import { predicateOf } from '../../query/predicate.js'
import { keyPartOf } from '../../../resource/keys/key-part.js'
import { isOfTenant } from '../../../resource/relations/relation.js'
import { sharedParts } from '../../../resource/relations/parts-of-name.js'
import { type Edge, isLeftBySoftDelete, isSoft } from './family.js'
import { parentIsDeleted, stillReferredTo } from './refused-deletion.js'
import { byMember, RowSet, type StoredRow, type StoredRows, tenantOfParent } from './stored-rows.js'

/** The rows that a deletion has changed. */
export interface Deleted {
  readonly rows: readonly StoredRow[]
  readonly unset: readonly { readonly edge: Edge; readonly rows: readonly StoredRow[] }[]
  /** `live` after a soft delete, which retains the rows; `all` after a removal. */
  readonly referring: 'live' | 'all'
  /** The caller's tenant. Undefined if the caller reaches all tenants. */
  readonly tenant: string | undefined
}

/**
 * Checks that a hook has not created a child of a deleted row or restored a cleared reference.
 *
 * @throws ErrPreconditionFailed if it has.
 */
export async function checkNoneIsLeft(
  stored: StoredRows,
  { rows, unset, referring, tenant }: Deleted,
): Promise<void> {
  const losing = unset.flatMap((one) => (one.rows.length === 0 ? [] : [one.edge.child]))
  if (!stored.callsHooks('delete', membersOf(rows)) && !stored.callsHooks('update', losing)) return
  for (const parents of byMember(rows))
    for (const edge of parents[0]?.member.children ?? [])
      if (referring === 'live' && isLeftBySoftDelete(edge)) continue
      else if ((await stored.count(edge, parents, { state: referring }, 1)) > 0)
        throw stillReferredTo([
          { type: edge.child.model.type, count: tenant === undefined ? 1 : undefined, isForceable: false },
        ])
}

/**
 * Checks that a hook has not deleted a row that an undeleted row refers to, or changed the reference to a
 * deleted row.
 *
 * @throws ErrPreconditionFailed if it has.
 */
export async function checkParentsLive(
  stored: StoredRows,
  root: StoredRow,
  rows: Iterable<StoredRow>,
  references: ReferenceAccess | undefined,
): Promise<void> {
  const all = [...rows]
  if (!stored.callsHooks('undelete', membersOf(all))) return
  for (const { member, key, tenant } of all) {
    const now = await stored.get(member, { key, tenant }, 'update')
    const isRoot = member === root.member && key === root.key && tenant === root.tenant
    if (now?.isDeleted === false)
      await checkParents(stored, new RowSet(), now, isRoot ? undefined : key, references)
  }
}

/**
 * Locks the rows that a row refers to, and checks that they are live or restored with it. A row that the
 * caller may not refer to counts as deleted.
 *
 * @param key - the row's key, if it is not the row of the call.
 * @throws ErrPreconditionFailed if a referenced row is deleted.
 */
export async function checkParents(
  stored: StoredRows,
  together: RowSet,
  row: StoredRow,
  key: string | undefined,
  references: ReferenceAccess | undefined,
): Promise<void> {
  for (const edge of row.member.parents) {
    const of = row.references[edge.relation.property]
    if (isOfTenant(edge.relation)) continue
    if (of === undefined || !isSoft(edge.parent) || together.parentOf(row, edge) !== undefined) continue
    const limits = references && (await limitsOf(stored, references, row, edge, of))
    const where = limits?.where && predicateOf(edge.parent.model, limits.where)
    const reach = { key: of, tenant: tenantOfParent(row, edge.parent), where }
    const parent = await stored.get(edge.parent, reach, 'share')
    if (parent === undefined || parent.isDeleted || !(await mayRefer(stored, limits, parent)))
      throw parentIsDeleted(row.member.model.type, edge.parent.model.type, key)
  }
}

/**
 * Returns the rows that the caller may refer to. The resource names of the target and the row may have
 * segments in common.
 */
async function limitsOf(
  stored: StoredRows,
  references: ReferenceAccess,
  row: StoredRow,
  { relation, parent: { model: target } }: Edge,
  key: string,
): Promise<RowLimits> {
  const values: Record<string, string> = { [target.key.property]: key }
  const parts = sharedParts(row.member.model, relation, target)
  if (parts.length > 0) {
    const [entity] = (await stored.entities([row])) as Readonly<Record<string, unknown>>[]
    for (const { own, target: other } of parts)
      values[other.property] = keyPartOf(own).textOf(entity?.[own.property])
  }
  return references.refer({ target, field: relation.reference.proto, by: row.member.model, values })
}

async function mayRefer(stored: StoredRows, limits: RowLimits | undefined, row: StoredRow): Promise<boolean> {
  if (limits === undefined) return true
  if (limits.isNone) return false
  if (limits.test === undefined) return true
  const [entity] = await stored.entities([row])
  return entity !== undefined && (await limits.test(entity)) === true
}

const membersOf = (rows: Iterable<StoredRow>) => new Set([...rows].map(({ member }) => member))
