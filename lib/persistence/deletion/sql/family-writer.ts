import { byCodePoint } from '../../../text/code-point-order.js'
import {
  type BatchDeleteOptions,
  MAX_RELATED,
  type RelatedOptions,
  type UndeleteOptions,
} from '../../contract/repository.js'
import type { Sources, Values } from '../../contract/new-entity.js'
import type { RowCondition, Scope } from '../../contract/scope.js'
import type { BeginOptions } from '../../dialects/dialect.js'
import { named } from '../../engines/executor/named.js'
import type { Statement } from '../../engines/executor/executor.js'
import { isStorable } from '../../query/reachable.js'
import { ErrNotFound } from '../../../errors.js'
import { deleteWithChildren } from '../rules/delete-with-children.js'
import { isSoft, type Member, tellsOf } from '../rules/family.js'
import { type PurgeStep, purgeWithChildren } from '../rules/purge-with-children.js'
import { fixedSnapshot } from '../rules/refusals.js'
import type { StoredRow } from '../rules/stored-rows.js'
import { undeleteWithChildren } from '../rules/undelete-with-children.js'
import type { SqlCall } from '../../rows/row-call.js'
import type { Target } from '../../rows/row-target.js'
import type { SqlFamily } from './sql-family.js'

/** Writes rows of one resource alone. */
export interface RowsAlone<E> {
  target(call: SqlCall, row: RowCondition): Promise<Target>
  delete(call: SqlCall, row: RowCondition, patch: Values): Promise<void>
  undelete(call: SqlCall, row: RowCondition, patch: Values): Promise<E>
}

/** Deletes, undeletes and purges rows of a resource that refers to others, or that others refer to. */
export class FamilyWriter<E extends object> {
  readonly callsHooks: boolean
  readonly tells: boolean
  /** Undefined where a lock always shows the newest rows, and where nothing refers to the resource. */
  readonly #asksSnapshot: Statement | undefined

  constructor(
    readonly member: Member,
    private readonly family: SqlFamily,
    private readonly alone: RowsAlone<E>,
    private readonly sources: Sources,
  ) {
    this.callsHooks = family.callsHooks(member)
    this.tells = tellsOf(member)
    const { isSnapshotFixed } = family.dialect
    if (isSnapshotFixed !== undefined && isSoft(member) && member.children.length > 0)
      this.#asksSnapshot = named(isSnapshotFixed)
  }

  /** A transaction that is begun for the operation sees what others have committed. */
  get settings(): BeginOptions {
    return this.#asksSnapshot === undefined ? {} : { isolation: 'read committed' }
  }

  /** Removing rows needs no snapshot: the database itself keeps the parents of rows. */
  get purging() {
    const { callsHooks, tells } = this
    return { callsHooks, tells, settings: {}, checkJoined: () => Promise.resolve() }
  }

  /** @throws ErrPreconditionFailed inside of a transaction that does not. */
  async checkJoined(call: SqlCall): Promise<void> {
    if (this.#asksSnapshot === undefined) return
    const { rows } = await call.on.run(this.#asksSnapshot, [], call)
    if (rows[0]?.[0] === 't') throw fixedSnapshot(this.member.model.type)
  }

  delete(call: SqlCall, row: RowCondition, patch: Values, options?: BatchDeleteOptions): Promise<void> {
    return this.#delete(call, [row], patch, row.scope, options)
  }

  async deleteMany(
    call: SqlCall,
    keys: readonly string[],
    scope: Scope,
    patch: Values,
    options?: BatchDeleteOptions,
  ): Promise<void> {
    if (!keys.every(isStorable)) throw new ErrNotFound()
    const rows = [...keys].sort(byCodePoint).map((key) => ({ key, scope }))
    if (rows.length > 0) await this.#delete(call, rows, patch, scope, options)
  }

  undelete(call: SqlCall, row: RowCondition, patch: Values, options?: UndeleteOptions): Promise<E> {
    const rows = this.family.rows(call, this.sources)
    const root = {
      find: async () => rows.get(this.member, await this.alone.target(call, row), 'update'),
      undelete: () => this.alone.undelete(call, row, patch),
    }
    return undeleteWithChildren(this.member, root, rows, limitsOf(row.scope, options))
  }

  purge(
    call: SqlCall,
    before: Date,
    step: {
      readonly tenant: string | undefined
      readonly after: StoredRow | undefined
      readonly chunk: number
    },
  ): Promise<PurgeStep> {
    return purgeWithChildren(this.member, this.family.rows(call, this.sources), before, step)
  }

  #delete(
    call: SqlCall,
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
      delete: () => this.alone.delete(call, row, patch),
    }))
    return deleteWithChildren(this.member, roots, rows, {
      ...limitsOf(scope, options),
      force: options?.force,
    })
  }
}

/** The tenant is that of the caller: rows of every tenant may refer to a resource that belongs to none. */
const limitsOf = ({ context }: Scope, options: RelatedOptions | undefined) => ({
  most: options?.mostRows ?? MAX_RELATED,
  tenant: context.tenant,
  access: options?.related,
})
