import type { FilterNode } from '../../query/query-plan.js'
import type { Edge, Member } from './family.js'

/** The values of a row that a deletion needs. */
export interface StoredRow {
  readonly member: Member
  readonly key: string
  /** Undefined where the resource belongs to no tenant. */
  readonly tenant: string | undefined
  readonly isDeleted: boolean
  /**
   * Of the deletion that the row was deleted in, together with others: a UUID, or the milliseconds of its
   * time.
   */
  readonly deleteId: string | undefined
  /** The keys of what it refers to, by the property of the relation. */
  readonly references: Readonly<Record<string, string | undefined>>
}

/** Which of the rows that refer to others. */
export interface Which {
  /** Live rows, all rows, or the rows of one deletion. */
  readonly state: 'live' | 'all' | { readonly deleteId: string }
  /** Only these. */
  readonly where?: FilterNode | undefined
}

/**
 * The rows of the resources of a family, inside of one transaction. What it returns is locked against writes
 * of others, and is what they have committed last.
 */
export interface StoredRows {
  /** The row with a key, or undefined. @param lock - `share` keeps it from being deleted. */
  get(
    member: Member,
    of: {
      readonly key: string
      readonly tenant: string | undefined
      readonly where?: FilterNode | undefined
    },
    lock: 'update' | 'share',
  ): Promise<StoredRow | undefined>
  /** The rows that refer to the parents, by key. */
  find(edge: Edge, parents: readonly StoredRow[], which: Which, limit: number): Promise<StoredRow[]>
  /** The number of rows, up to the limit. */
  count(edge: Edge, parents: readonly StoredRow[], which: Which, limit: number): Promise<number>
  /** The entities of rows of one resource. */
  entities(rows: readonly StoredRow[]): Promise<object[]>
  /**
   * The time of a deletion that is identified by its time: later than every deleted row's that refers to
   * these. Undefined if a column identifies deletions.
   */
  deletionTime(rows: readonly StoredRow[]): Promise<Date | undefined>
  /** Deletes live rows of one resource softly, with their hooks. */
  softDelete(rows: readonly StoredRow[], deleteId: string): Promise<void>
  /** Writes of what deletion rows are; undefined for none. */
  mark(rows: readonly StoredRow[], deleteId: string | undefined): Promise<void>
  /** Undeletes rows of one resource, with their hooks. */
  restore(rows: readonly StoredRow[]): Promise<void>
  /** Takes the reference out of rows, with the hooks of live ones. */
  unset(edge: Edge, rows: readonly StoredRow[]): Promise<void>
  /** Takes the reference out of rows that are removed next, and changes nothing else. */
  clear(edge: Edge, rows: readonly StoredRow[]): Promise<void>
  /** Removes rows of one resource for good, with the hooks of live ones. */
  remove(rows: readonly StoredRow[]): Promise<void>
  /** The same without hooks. */
  purge(rows: readonly StoredRow[]): Promise<void>
  /** True if the operation calls a hook of one of the resources. */
  callsHooks(operation: 'update' | 'delete' | 'undelete', members: Iterable<Member>): boolean
  /**
   * The rows that have expired, in the order of tenant and key. @param after - the last row of those before.
   */
  expired(
    member: Member,
    before: Date,
    tenant: string | undefined,
    after: StoredRow | undefined,
    limit: number,
  ): Promise<StoredRow[]>
}

/** Tells the rows of a family apart. */
export class RowSet {
  readonly #rows = new Map<Member, Map<string, StoredRow>>()
  size = 0

  constructor(rows: Iterable<StoredRow> = []) {
    for (const row of rows) this.add(row)
  }

  /** True if it is new. */
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

  /** The row that a row refers to, if it is among these. */
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

/** A tenant's resource may refer to one that belongs to none. */
export const tenantOfParent = ({ tenant }: StoredRow, parent: Member): string | undefined =>
  parent.model.tenant === undefined ? undefined : tenant

/** Neither part can contain the separator. */
const idOf = ({ key, tenant }: Pick<StoredRow, 'key' | 'tenant'>): string => `${tenant ?? ''}\0${key}`

/** The rows of each resource, one after the other. */
export function byMember(rows: Iterable<StoredRow>): StoredRow[][] {
  const groups = new Map<Member, StoredRow[]>()
  for (const row of rows) {
    const group = groups.get(row.member)
    if (group === undefined) groups.set(row.member, [row])
    else group.push(row)
  }
  return [...groups.values()]
}
