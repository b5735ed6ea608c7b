import { ErrNotFound } from '../../../errors.js'
import type { Sources, Values } from '../../contract/new-entity.js'
import {
  type BatchDeleteOptions,
  MAX_RELATED,
  type RelatedOptions,
  type UndeleteOptions,
} from '../../contract/repository.js'
import type { RowCondition, Scope } from '../../contract/scope.js'
import type { BeginOptions } from '../../dialects/dialect.js'
import type { RowCall } from '../../rows/row-call.js'
import type { Target } from '../../rows/row-target.js'
import { deleteWithChildren } from './delete-with-children.js'
import { isSoft, type Member, emitsOf } from './family.js'
import { type PurgeOptions, type PurgeStep, purgeWithChildren } from './purge-with-children.js'
import { fixedSnapshot } from './refused-deletion.js'
import type { StoredRows } from './stored-rows.js'
import { undeleteWithChildren } from './undelete-with-children.js'

/** Writes rows of one resource, without related rows. */
export interface RowsAlone<E, C extends RowCall> {
  target(call: C, row: RowCondition): Promise<Target>
  delete(call: C, row: RowCondition, patch: Values): Promise<void>
  undelete(call: C, row: RowCondition, patch: Values): Promise<E>
}

/** Reads and writes the rows of all related resources of a database. */
export interface FamilyRows<C extends RowCall> {
  /** Returns the rows for use inside one transaction. */
  rows(call: C, sources: Sources): StoredRows
  /** Returns true if the operation calls a hook of the resource. */
  surround(member: Member, operation: 'update' | 'delete' | 'undelete'): boolean
  /** Undefined if locking reads always return the latest committed rows. */
  readonly snapshot: Snapshot<C> | undefined
}

/** The transaction isolation that deletions need. */
export interface Snapshot<C extends RowCall> {
  /** The settings of a transaction that reads changes which others have committed meanwhile. */
  readonly settings: BeginOptions
  /** Returns true if the call's transaction reads from a snapshot that does not change. */
  isFixed(call: C): Promise<boolean>
}

/** Deletes, undeletes and purges rows of a resource that is part of a relation. */
export class FamilyWriter<E extends object, C extends RowCall> {
  readonly callsHooks: boolean
  readonly emits: boolean
  /** Undefined if locking reads always return the latest rows, or if no resource refers to this one. */
  readonly #snapshot: Snapshot<C> | undefined

  constructor(
    readonly member: Member,
    private readonly family: FamilyRows<C>,
    private readonly alone: RowsAlone<E, C>,
    private readonly sources: Sources,
  ) {
    this.callsHooks = callsHooks(member, family)
    this.emits = emitsOf(member)
    if (isSoft(member) && member.children.length > 0) this.#snapshot = family.snapshot
  }

  /**
   * The settings of a transaction that begins for the operation. It reads changes that others have committed
   * meanwhile.
   */
  get settings(): BeginOptions {
    return this.#snapshot?.settings ?? {}
  }

  /** The settings of a purge. It may use a fixed snapshot, because foreign keys protect referenced rows. */
  get purging() {
    const { callsHooks, emits } = this
    return { callsHooks, emits, settings: {}, checkJoined: () => Promise.resolve() }
  }

  /**
   * Checks that the operation can join a transaction.
   *
   * @throws ErrPreconditionFailed if the surrounding transaction reads from a fixed snapshot.
   */
  async checkJoined(call: C): Promise<void> {
    if ((await this.#snapshot?.isFixed(call)) === true) throw fixedSnapshot(this.member.model.type)
  }

  delete(call: C, row: RowCondition, patch: Values, options?: BatchDeleteOptions): Promise<void> {
    return this.#delete(call, [row], patch, row.scope, options)
  }

  async deleteMany(
    call: C,
    keys: readonly string[],
    scope: Scope,
    patch: Values,
    options?: BatchDeleteOptions,
  ): Promise<void> {
    const { isKey, compare } = this.member.model.keys
    if (!keys.every(isKey)) throw new ErrNotFound()
    const rows = [...keys].sort(compare).map((key) => ({ key, scope }))
    if (rows.length > 0) await this.#delete(call, rows, patch, scope, options)
  }

  undelete(call: C, row: RowCondition, patch: Values, options?: UndeleteOptions): Promise<E> {
    const rows = this.family.rows(call, this.sources)
    const root = {
      find: async () => rows.get(this.member, await this.alone.target(call, row), 'update'),
      undelete: () => this.alone.undelete(call, row, patch),
    }
    const limits = { ...limitsOf(row.scope, options), references: options?.references }
    return undeleteWithChildren(root, rows, limits)
  }

  purge(call: C, before: Date, options: PurgeOptions): Promise<PurgeStep> {
    return purgeWithChildren(this.member, this.family.rows(call, this.sources), before, options)
  }

  #delete(
    call: C,
    conditions: readonly RowCondition[],
    patch: Values,
    scope: Scope,
    options: BatchDeleteOptions | undefined,
  ): Promise<void> {
    const rows = this.family.rows(call, this.sources)
    const roots = conditions.map((row) => ({
      find: async () => {
        const found = await rows.get(this.member, await this.alone.target(call, row), 'update')
        return found?.isDeleted === false ? found : undefined
      },
      delete: (at: Date | undefined) => {
        const { deleteTime } = this.member.model
        const isReported = at !== undefined && deleteTime !== undefined
        return this.alone.delete(call, row, isReported ? { ...patch, [deleteTime.property]: at } : patch)
      },
    }))
    return deleteWithChildren(this.member, roots, rows, {
      ...limitsOf(scope, options),
      force: options?.force,
    })
  }
}

/**
 * Returns the limits of a deletion. They include the caller's tenant, because a resource without tenants may
 * have children of every tenant.
 */
const limitsOf = ({ context }: Scope, options: RelatedOptions | undefined) => ({
  most: options?.maxRows ?? MAX_RELATED,
  tenant: context.tenant,
  access: options?.related,
})

/** Returns true if deleting, undeleting or purging a row calls a hook of the row or of a related row. */
const callsHooks = <C extends RowCall>(
  member: Member,
  family: FamilyRows<C>,
  seen = new Set<Member>(),
): boolean => {
  if (seen.has(member)) return false
  seen.add(member)
  return (
    WRITES.some((operation) => family.surround(member, operation)) ||
    member.children.some(({ child }) => callsHooks(child, family, seen))
  )
}

const WRITES = ['delete', 'undelete', 'update'] as const
