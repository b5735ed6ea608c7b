import { predicateOf } from '../../query/predicate.js'
import { goesAlong, isLeftBySoftDelete, isSoft, type Edge, type Member } from './family.js'
import { MAX_COUNTED, type Referring, stillReferredTo, tooManyRows } from './refused-deletion.js'
import type { ReferenceAccess, RelatedAccess, RowLimits } from '../../contract/related-options.js'
import { byMember, RowSet, type StoredRow, type StoredRows, type Which } from './stored-rows.js'

export interface PlanOptions {
  /** Deletes children even if the relation restricts deletion. Undefined if callers cannot set it. */
  readonly force: boolean | undefined
  /** The maximum number of rows that may be written in total. */
  readonly most: number
  /** The caller's tenant. Undefined if the caller reaches all tenants. */
  readonly tenant: string | undefined
  /** Undefined if the caller may change and list all rows. */
  readonly access: RelatedAccess | undefined
}

/** Limits of an undelete: the rows that it may restore and refer to. */
export interface UndeletionOptions extends Omit<PlanOptions, 'force'> {
  /** Undefined if the caller may refer to all rows. */
  readonly references: ReferenceAccess | undefined
}

/** The effects of a deletion on other rows. */
export interface DeletionPlan {
  /**
   * For each root, in the order of the roots, the rows that are deleted with it. Rows closer to the root come
   * first.
   */
  readonly withRoot: readonly (readonly StoredRow[])[]
  /** The rows that are not deleted but lose a reference. */
  readonly unset: readonly { readonly edge: Edge; readonly rows: readonly StoredRow[] }[]
}

interface Pending {
  readonly edge: Edge
  readonly parents: readonly StoredRow[]
}

/**
 * Finds and locks the rows that are deleted with the roots. Writes nothing.
 *
 * @param roots - locked rows of one resource.
 * @throws ErrPreconditionFailed with the number of rows that prevent the deletion.
 */
export async function planDeletion(
  rows: StoredRows,
  roots: readonly StoredRow[],
  options: PlanOptions,
): Promise<DeletionPlan> {
  const planning = new Planning(rows, roots, options)
  const withRoot: StoredRow[][] = []
  for (const root of roots) withRoot.push(await planning.follow(root))
  await planning.restrict()
  return { withRoot, unset: await planning.unset() }
}

class Planning {
  readonly #found: RowSet
  readonly #restricting: Pending[] = []
  readonly #unsetting: Pending[] = []
  readonly #which: Which
  readonly #isSoft: boolean
  readonly #along: { readonly force: boolean; readonly isSoftDelete: boolean }
  readonly #limits = new Map<Member, RowLimits>()
  readonly #refused: { readonly edge: Edge; readonly parents: readonly StoredRow[] }[] = []
  #left: number

  constructor(
    private readonly rows: StoredRows,
    private readonly roots: readonly StoredRow[],
    private readonly options: PlanOptions,
  ) {
    this.#found = new RowSet(roots)
    this.#left = options.most - roots.length
    this.#isSoft = roots[0] !== undefined && isSoft(roots[0].member)
    this.#along = { force: options.force === true, isSoftDelete: this.#isSoft }
    this.#which = { state: this.#isSoft ? 'live' : 'all' }
  }

  /** Returns the rows that are deleted with a root. */
  async follow(root: StoredRow): Promise<StoredRow[]> {
    const all: StoredRow[] = []
    let level: StoredRow[] = [root]
    while (level.length > 0) {
      const next: StoredRow[] = []
      for (const parents of byMember(level))
        for (const edge of parents[0]?.member.children ?? []) {
          if (edge.relation.onDelete === 'set null') this.#unsetting.push({ edge, parents })
          else if (this.#isSoft && isLeftBySoftDelete(edge)) continue
          else if (goesAlong(edge, this.#along)) next.push(...(await this.#take(edge, parents)))
          else this.#restricting.push({ edge, parents })
        }
      all.push(...next)
      level = next
    }
    return all
  }

  async #take(edge: Edge, parents: readonly StoredRow[]): Promise<StoredRow[]> {
    const limit = this.#left + this.#found.countOf(edge.child) + 1
    const found = await this.rows.find(edge, parents, this.#which, limit)
    const fresh = found.filter((row) => !this.#found.has(row))
    this.#spend(fresh.length)
    if (fresh.length > 0 && !(await this.#mayTake(edge, parents, fresh)))
      this.#refused.push({ edge, parents })
    for (const row of fresh) this.#found.add(row)
    return fresh
  }

  #spend(count: number): void {
    this.#left -= count
    const [root] = this.roots
    if (this.#left < 0 && root !== undefined) throw tooManyRows(root.member.model.type, this.options.most)
  }

  async #mayTake(edge: Edge, parents: readonly StoredRow[], fresh: readonly StoredRow[]): Promise<boolean> {
    const { tenant, access } = this.options
    if (tenant !== undefined && fresh.some((row) => row.tenant !== undefined && row.tenant !== tenant))
      return false
    if (access === undefined) return true
    return mayReach(this.rows, await this.#limitsOf(edge.child, access), edge, parents, this.#which, fresh)
  }

  async #limitsOf(member: Member, access: RelatedAccess): Promise<RowLimits> {
    const known = this.#limits.get(member)
    if (known !== undefined) return known
    const limits = await access.change(member.model)
    this.#limits.set(member, limits)
    return limits
  }

  /**
   * Checks the relations that restrict deletion.
   *
   * @throws ErrPreconditionFailed if remaining rows refer to a row that would be deleted.
   */
  async restrict(): Promise<void> {
    const byChild = new Map<Member, Pending[]>()
    for (const one of [...this.#restricting, ...this.#refused]) {
      const known = byChild.get(one.edge.child)
      if (known === undefined) byChild.set(one.edge.child, [one])
      else known.push(one)
    }
    const refused = new Set<Member>(this.#refused.map(({ edge }) => edge.child))
    const referring: Referring[] = []
    for (const [child, pending] of byChild) {
      const isRefused = refused.has(child)
      const count = await this.#countOf(child, pending, this.#which, isRefused)
      if (count === 0 && !isRefused) continue
      referring.push({
        type: child.model.type,
        ...(await this.#reported(child, pending, count, isRefused)),
        isForceable: !isRefused && this.options.force === false && (!this.#isSoft || isSoft(child)),
      })
    }
    if (referring.length > 0) throw stillReferredTo(referring)
  }

  /**
   * Counts the rows that block the deletion.
   *
   * @param countsAll - also counts rows that would be deleted.
   */
  async #countOf(
    child: Member,
    pending: readonly Pending[],
    which: Which,
    countsAll: boolean,
  ): Promise<number> {
    const [only, another] = pending
    const known = countsAll ? 0 : this.#found.countOf(child)
    if (only !== undefined && another === undefined && known === 0)
      return this.rows.count(only.edge, only.parents, which, MAX_COUNTED + 1)
    const seen = new RowSet()
    for (const { edge, parents } of pending)
      for (const row of await this.rows.find(edge, parents, which, known + MAX_COUNTED + 1))
        if (countsAll || !this.#found.has(row)) seen.add(row)
    return Math.min(seen.size, MAX_COUNTED + 1)
  }

  /** Returns the rows that may be reported to the caller. */
  async #reported(
    child: Member,
    pending: readonly Pending[],
    found: number,
    isRefused: boolean,
  ): Promise<Pick<Referring, 'count' | 'untilPurged'>> {
    const visible = await this.#visible(child, pending, found, isRefused)
    const count = visible?.count
    if (this.#isSoft || !isSoft(child)) return { count }
    if (visible === undefined || visible.count > MAX_COUNTED)
      return { count, untilPurged: { deleted: undefined } }
    const which: Which = { ...visible.which, state: 'live' }
    const live = await this.#countOf(child, pending, which, isRefused)
    return { count, untilPurged: { deleted: Math.max(0, visible.count - live) } }
  }

  /**
   * Returns the number of rows to report to the caller. Rows of other tenants and rows that the caller may
   * not list are not counted.
   */
  async #visible(
    child: Member,
    pending: readonly Pending[],
    count: number,
    isRefused: boolean,
  ): Promise<{ readonly count: number; readonly which: Which } | undefined> {
    const { tenant, access } = this.options
    const isForeign =
      tenant !== undefined && child.model.tenant !== undefined && pending.some(({ edge }) => isAcross(edge))
    if (isForeign) return undefined
    if (access === undefined) return { count, which: this.#which }
    const limits = await access.list(child.model)
    if (limits.isNone || limits.test !== undefined) return undefined
    if (limits.where === undefined) return { count, which: this.#which }
    const which = { ...this.#which, where: predicateOf(child.model, limits.where) }
    const visible = await this.#countOf(child, pending, which, isRefused)
    return visible === 0 ? undefined : { count: visible, which }
  }

  /** Returns the rows that lose a reference but are not deleted. */
  async unset(): Promise<DeletionPlan['unset']> {
    const unset: { readonly edge: Edge; readonly rows: readonly StoredRow[] }[] = []
    for (const { edge, parents } of this.#unsetting) {
      const found = await this.rows.find(edge, parents, this.#which, MAX_FOUND)
      const staying = found.filter((row) => !this.#found.has(row))
      const { tenant } = this.options
      if (tenant !== undefined && staying.some((row) => row.tenant !== undefined && row.tenant !== tenant))
        throw stillReferredTo([{ type: edge.child.model.type, count: undefined, isForceable: false }])
      if (staying.length > 0) unset.push({ edge, rows: staying })
    }
    return unset
  }
}

/** The largest limit that every engine accepts. */
const MAX_FOUND = 2 ** 31 - 1

/** Returns true if rows of several tenants may refer to the parent. */
const isAcross = ({ child, parent }: Edge): boolean =>
  child.model.tenant !== undefined && parent.model.tenant === undefined

/** Returns true if the caller may reach all of the rows. */
export async function mayReach(
  rows: StoredRows,
  limits: RowLimits,
  edge: Edge,
  parents: readonly StoredRow[],
  which: Which,
  found: readonly StoredRow[],
): Promise<boolean> {
  if (limits.isNone) return false
  if (limits.where !== undefined) {
    const where = predicateOf(edge.child.model, limits.where)
    const within = new RowSet(await rows.find(edge, parents, { ...which, where }, MAX_FOUND))
    if (!found.every((row) => within.has(row))) return false
  }
  if (limits.test === undefined) return true
  for (const entity of await rows.entities(found)) if ((await limits.test(entity)) !== true) return false
  return true
}
