import type { FilterNode } from '../../query/query-plan.js'
import type { Edge, Member } from './family.js'

/** The values of a row that deletions need. */
export interface StoredRow {
  readonly member: Member
  readonly key: string
  /** Undefined if the resource has no tenant. */
  readonly tenant: string | undefined
  readonly isDeleted: boolean
  /**
   * Identifies the deletion of rows that were deleted together: a UUID, or the deletion time in milliseconds.
   */
  readonly deleteId: string | undefined
  /** The keys of referenced rows, by relation property. */
  readonly references: Readonly<Record<string, string | undefined>>
}

/** Selects referring rows. */
export interface Which {
  /** Live rows, all rows, or the rows of one deletion. */
  readonly state: 'live' | 'all' | { readonly deleteId: string }
  /** An additional condition. */
  readonly where?: FilterNode | undefined
}

/**
 * Reads and writes the rows of related resources inside one transaction. Every method that returns rows locks
 * them and returns their latest committed state.
 */
export interface StoredRows {
  /**
   * Returns the row with a key, or undefined.
   *
   * @param lock - `share` prevents the row from being deleted.
   */
  get(
    member: Member,
    of: {
      readonly key: string
      readonly tenant: string | undefined
      readonly where?: FilterNode | undefined
    },
    lock: 'update' | 'share',
  ): Promise<StoredRow | undefined>
  /** Returns the rows that refer to the parents, in key order. */
  find(edge: Edge, parents: readonly StoredRow[], which: Which, limit: number): Promise<StoredRow[]>
  /** Returns the number of rows, but at most the limit. */
  count(edge: Edge, parents: readonly StoredRow[], which: Which, limit: number): Promise<number>
  /** Returns the entities of rows of one resource. */
  entities(rows: readonly StoredRow[]): Promise<object[]>
  /**
   * Returns a time for a deletion that is identified by its time. It is later than the delete time of every
   * row that refers to these. Returns undefined if a column identifies deletions.
   */
  deletionTime(rows: readonly StoredRow[]): Promise<Date | undefined>
  /** Soft-deletes live rows of one resource and calls their hooks. */
  softDelete(rows: readonly StoredRow[], deleteId: string): Promise<void>
  /** Stores which deletion the rows belong to, or clears it. */
  mark(rows: readonly StoredRow[], deleteId: string | undefined): Promise<void>
  /** Undeletes rows of one resource and calls their hooks. */
  restore(rows: readonly StoredRow[]): Promise<void>
  /** Clears the reference in rows and calls the hooks of live ones. */
  unset(edge: Edge, rows: readonly StoredRow[]): Promise<void>
  /** Clears the reference in rows that are removed next. Changes nothing else and calls no hooks. */
  clear(edge: Edge, rows: readonly StoredRow[]): Promise<void>
  /** Permanently removes rows of one resource and calls the hooks of live ones. */
  remove(rows: readonly StoredRow[]): Promise<void>
  /** Permanently removes rows of one resource without calling hooks. */
  purge(rows: readonly StoredRow[]): Promise<void>
  /** Returns true if the operation calls a hook of one of the resources. */
  callsHooks(operation: 'update' | 'delete' | 'undelete', members: Iterable<Member>): boolean
  /**
   * Returns expired rows, ordered by tenant and key.
   *
   * @param after - the last row of the previous step.
   */
  expired(
    member: Member,
    before: Date,
    tenant: string | undefined,
    after: StoredRow | undefined,
    limit: number,
  ): Promise<StoredRow[]>
}

/** A set of rows, identified by resource, tenant and key. */
export class RowSet {
  readonly #rows = new Map<Member, Map<string, StoredRow>>()
  size = 0

  constructor(rows: Iterable<StoredRow> = []) {
    for (const row of rows) this.add(row)
  }

  /** Adds a row. Returns true if it is new. */
  add(row: StoredRow): boolean {
    const known = this.#rows.get(row.member)
    const of = known ?? new Map<string, StoredRow>()
    if (known === undefined) this.#rows.set(row.member, of)
    const id = idOf(row)
    if (of.has(id)) return false
    of.set(id, row)
    this.size++
    return true
  }

  has(row: StoredRow): boolean {
    return this.#rows.get(row.member)?.has(idOf(row)) === true
  }

  countOf(member: Member): number {
    return this.#rows.get(member)?.size ?? 0
  }

  /** Returns the row that a row refers to, if it is in the set. */
  parentOf(row: StoredRow, { parent, relation }: Edge): StoredRow | undefined {
    const key = row.references[relation.property]
    return key === undefined
      ? undefined
      : this.#rows.get(parent)?.get(idOf({ key, tenant: tenantOfParent(row, parent) }))
  }

  *[Symbol.iterator](): Iterator<StoredRow> {
    for (const of of this.#rows.values()) yield* of.values()
  }
}

/** Returns the tenant of a row's parent. A parent may have no tenant although the row has one. */
export const tenantOfParent = ({ tenant }: StoredRow, parent: Member): string | undefined =>
  parent.model.tenant === undefined ? undefined : tenant

/** Returns a unique id within a resource. Neither part can contain the separator. */
const idOf = ({ key, tenant }: Pick<StoredRow, 'key' | 'tenant'>): string => `${tenant ?? ''}\0${key}`

/** Groups rows by resource. */
export function byMember(rows: Iterable<StoredRow>): StoredRow[][] {
  const groups = new Map<Member, StoredRow[]>()
  for (const row of rows) {
    const group = groups.get(row.member)
    if (group === undefined) groups.set(row.member, [row])
    else group.push(row)
  }
  return [...groups.values()]
}
