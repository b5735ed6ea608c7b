import type { Edge } from './family.js'
import { byMember, RowSet, type StoredRow } from './stored-rows.js'

/** An order in which rows that refer to each other can be removed. */
export interface RemovalOrder {
  /** References to clear first, because they form a cycle or point to their own row. */
  readonly unset: readonly { readonly edge: Edge; readonly rows: readonly StoredRow[] }[]
  /**
   * Groups of rows of one resource. No row is referred to by a later group or by another row of its own
   * group.
   */
  readonly groups: readonly (readonly StoredRow[])[]
}

/** Returns an order in which children come before their parents. */
export function removalOrder(all: Iterable<StoredRow>): RemovalOrder {
  const rows = new RowSet(all)
  const unset = new Map<Edge, StoredRow[]>()
  const groups: StoredRow[][] = []
  const children = new Map<StoredRow, number>()
  const parentsOf = (row: StoredRow): StoredRow[] =>
    row.member.parents.flatMap((edge) => {
      const parent = rows.parentOf(row, edge)
      return parent === undefined || parent === row ? [] : [parent]
    })
  for (const row of rows) for (const parent of parentsOf(row)) count(children, parent, 1)
  for (const row of rows)
    for (const edge of row.member.parents) if (rows.parentOf(row, edge) === row) free(unset, edge, row)
  let left = new Set(rows)
  const done = new Set<StoredRow>()
  while (left.size > 0) {
    let bare = [...left].filter((row) => (children.get(row) ?? 0) === 0)
    if (bare.length === 0) {
      bare = [...left]
      for (const row of left)
        for (const edge of row.member.parents) {
          const parent = rows.parentOf(row, edge)
          if (parent !== undefined && parent !== row && left.has(parent)) free(unset, edge, row)
        }
    }
    groups.push(...byMember(bare))
    for (const row of bare) {
      done.add(row)
      for (const parent of parentsOf(row)) count(children, parent, -1)
    }
    left = new Set([...left].filter((row) => !done.has(row)))
  }
  return { unset: [...unset].map(([edge, of]) => ({ edge, rows: of })), groups }
}

/** Clears a reference if it is nullable. Otherwise the row is removed as it is, which some engines allow. */
const free = (unset: Map<Edge, StoredRow[]>, edge: Edge, row: StoredRow): void => {
  if (!edge.relation.reference.nullable) return
  const of = unset.get(edge)
  if (of === undefined) unset.set(edge, [row])
  else of.push(row)
}

const count = (of: Map<StoredRow, number>, row: StoredRow, by: number): void =>
  void of.set(row, (of.get(row) ?? 0) + by)
