import type { Edge, Member } from './family.js'
import { removalOrder } from './removal-order.js'
import { byMember, RowSet, type StoredRow, type StoredRows } from './stored-rows.js'
import { checkNoneIsLeft } from './what-is-left.js'

/** The result of one step of a purge. */
export interface PurgeStep {
  /** The number of the resource's rows that were removed. */
  readonly removed: number
  /** The last expired row that was examined, or undefined at the end. */
  readonly last: StoredRow | undefined
}

/** The rows that one step of a purge examines. */
export interface PurgeOptions {
  readonly tenant: string | undefined
  /** The last row of the previous step. */
  readonly after: StoredRow | undefined
  /** The maximum number of expired rows to examine. */
  readonly chunk: number
  /** Called before the first row is removed, with the last expired row, or undefined if there is none. */
  readonly onFound?: (last: StoredRow | undefined) => void
}

/**
 * Removes expired rows of one resource and the rows that their relations delete, children before parents.
 * Rows that other rows refer to are kept.
 */
export async function purgeWithChildren(
  member: Member,
  rows: StoredRows,
  before: Date,
  { tenant, after, chunk, onFound }: PurgeOptions,
): Promise<PurgeStep> {
  const expired = await rows.expired(member, before, tenant, after, chunk)
  onFound?.(expired.at(-1))
  const bare = await withoutChildren(rows, member, expired)
  if (bare.length > 0) await rows.purge(bare)
  const gone = new RowSet(bare)
  for (const row of expired) if (!gone.has(row)) await removeWithChildren(rows, row, gone, tenant)
  return { removed: gone.countOf(member), last: expired.length < chunk ? undefined : expired.at(-1) }
}

const ALL = { state: 'all' } as const

/** The largest limit that every engine accepts. */
const MAX_FOUND = 2 ** 31 - 1

/**
 * Returns the rows without children. Most expired rows have none, and one statement per relation finds them.
 */
async function withoutChildren(
  rows: StoredRows,
  member: Member,
  expired: readonly StoredRow[],
): Promise<readonly StoredRow[]> {
  if (expired.length === 0) return expired
  const known = new RowSet(expired)
  const referredTo = new Set<StoredRow>()
  for (const edge of member.children)
    for (const child of await rows.find(edge, expired, ALL, MAX_FOUND)) {
      const parent = known.parentOf(child, edge)
      if (parent !== undefined) referredTo.add(parent)
    }
  return expired.filter((row) => !referredTo.has(row))
}

/**
 * Removes a row and its children. Removes nothing if a row that would not be removed refers to one of them.
 */
async function removeWithChildren(
  rows: StoredRows,
  root: StoredRow,
  gone: RowSet,
  tenant: string | undefined,
): Promise<void> {
  const found = new RowSet([root])
  const unset: { readonly edge: Edge; readonly rows: readonly StoredRow[] }[] = []
  const staying: StoredRow[] = []
  for (let level: StoredRow[] = [root]; level.length > 0;) {
    const next: StoredRow[] = []
    for (const parents of byMember(level))
      for (const edge of parents[0]?.member.children ?? []) {
        const children = (await rows.find(edge, parents, ALL, MAX_FOUND)).filter((row) => !gone.has(row))
        if (tenant !== undefined && children.some((row) => row.tenant !== undefined && row.tenant !== tenant))
          return
        if (edge.relation.onDelete === 'set null') unset.push({ edge, rows: children })
        else
          for (const child of children) {
            if (!goesAlong(edge, child, root)) staying.push(child)
            else if (found.add(child)) next.push(child)
          }
      }
    level = next
  }
  if (staying.some((row) => !found.has(row))) return
  const order = removalOrder(found)
  const losing = unset
    .map(({ edge, rows: of }) => ({ edge, rows: of.filter((row) => !found.has(row)) }))
    .filter(({ rows: of }) => of.length > 0)
  for (const one of losing) await rows.unset(one.edge, one.rows)
  for (const one of order.unset) await rows.clear(one.edge, one.rows)
  for (const group of order.groups) await rows.purge(group)
  if (losing.length > 0)
    await checkNoneIsLeft(rows, { rows: [...found], unset: losing, referring: 'all', tenant })
  for (const row of found) gone.add(row)
}

/** Returns true if the relation cascades, or if the child was deleted together with the root. */
const goesAlong = ({ relation }: Edge, child: StoredRow, { deleteId }: StoredRow): boolean =>
  relation.onDelete === 'cascade' || (deleteId !== undefined && child.deleteId === deleteId)
