import type { Edge } from './family.js'
import { byMember, RowSet, type StoredRow } from './stored-rows.js'

/** An order in which rows that refer to one another can be removed. */
export interface RemovalOrder {
  /** References to take out first, where rows refer to one another in a ring, or to themselves. */
  readonly unset: readonly { readonly edge: Edge; readonly rows: readonly StoredRow[] }[]
  /**
   * Groups of rows of one resource. No row refers to one of its own group or of an earlier one, itself aside.
   */
  readonly groups: readonly (readonly StoredRow[])[]
}

/** Children come before their parents. */
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

/** A reference that cannot be absent is left: some engines remove such a row all the same. */
const free = (unset: Map<Edge, StoredRow[]>, edge: Edge, row: StoredRow): void => {
  if (!edge.relation.reference.nullable) return
  const of = unset.get(edge)
  if (of === undefined) unset.set(edge, [row])
  else of.push(row)
}

const count = (of: Map<StoredRow, number>, row: StoredRow, by: number): void =>
  void of.set(row, (of.get(row) ?? 0) + by)
