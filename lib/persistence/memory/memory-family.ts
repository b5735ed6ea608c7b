import { byCodePoint } from '../../text/code-point-order.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Sources, Values } from '../contract/new-entity.js'
import {
  type BatchDeleteOptions,
  MAX_RELATED,
  type RelatedOptions,
  type UndeleteOptions,
} from '../contract/repository.js'
import type { RowCondition, Scope } from '../contract/scope.js'
import { deleteWithChildren } from '../deletion/rules/delete-with-children.js'
import { isSoft, type Member } from '../deletion/rules/family.js'
import { purgeWithChildren } from '../deletion/rules/purge-with-children.js'
import { undeleteWithChildren } from '../deletion/rules/undelete-with-children.js'
import type { MemoryDatabase } from './memory-database.js'
import { MemoryStoredRows } from './memory-stored-rows.js'
import type { HookedMemoryRows, MemoryWriter } from './memory-writer.js'

/** Deletes, undeletes and purges rows of a resource that refers to others of its database, or that they refer to. */
export class MemoryFamily<E extends object> {
  constructor(
    private readonly database: MemoryDatabase,
    private readonly model: ResourceModel<E>,
    private readonly writer: MemoryWriter<E>,
    private readonly sources: Sources,
  ) {}

  /** Whether something refers to the resource. */
  get deletes(): boolean {
    return (this.member?.children.length ?? 0) > 0
  }

  /** Whether it comes back with others, or refers to what can be deleted. */
  get undeletes(): boolean {
    const { hasDeleteId = false, parents = [] } = this.member ?? {}
    return hasDeleteId || parents.some(({ parent }) => isSoft(parent))
  }

  async delete(
    rows: HookedMemoryRows,
    row: RowCondition,
    patch: Readonly<Values>,
    options: BatchDeleteOptions | undefined,
  ): Promise<void> {
    if (this.deletes) await this.#delete(rows, [row], patch, row.scope, options)
    else await this.writer.delete(rows, row, patch)
  }

  async deleteMany(
    rows: HookedMemoryRows,
    keys: readonly string[],
    scope: Scope,
    patch: Readonly<Values>,
    options: BatchDeleteOptions | undefined,
  ): Promise<void> {
    const conditions = [...keys].sort(byCodePoint).map((key) => ({ key, scope }))
    if (this.deletes) await this.#delete(rows, conditions, patch, scope, options)
    else await this.writer.deleteMany(rows, keys, scope, patch)
  }

  async #delete(
    rows: HookedMemoryRows,
    conditions: readonly RowCondition[],
    patch: Readonly<Values>,
    scope: Scope,
    options: BatchDeleteOptions | undefined,
  ): Promise<void> {
    const member = this.member as Member
    const stored = this.#rows(rows, scope)
    const roots = conditions.map((row) => ({
      find: async () => {
        const found = await stored.get(member, { key: row.key, ...row.scope })
        return found?.isDeleted === false ? found : undefined
      },
      delete: () => this.writer.delete(rows, row, patch),
    }))
    await deleteWithChildren(member, roots, stored, { ...limitsOf(scope, options), force: options?.force })
  }

  undelete(
    rows: HookedMemoryRows,
    row: RowCondition,
    patch: Readonly<Values>,
    options: UndeleteOptions | undefined,
  ): Promise<E> {
    if (!this.undeletes) return this.writer.undelete(rows, row, patch)
    const member = this.member as Member
    const stored = this.#rows(rows, row.scope)
    const root = {
      find: () => stored.get(member, { key: row.key, ...row.scope }),
      undelete: () => this.writer.undelete(rows, row, patch),
    }
    return undeleteWithChildren(member, root, stored, limitsOf(row.scope, options))
  }

  async purge(rows: HookedMemoryRows, before: Date, scope: Scope): Promise<number> {
    if (!this.deletes) return this.writer.purge(rows, before, scope)
    const step = { tenant: scope.tenant, after: undefined, chunk: Number.POSITIVE_INFINITY }
    return (await purgeWithChildren(this.member as Member, this.#rows(rows, scope), before, step)).removed
  }

  /** Its relations; undefined where it has none. */
  get member(): Member | undefined {
    return this.database.family.get(this.model as unknown as ResourceModel)
  }

  #rows(rows: HookedMemoryRows, { context }: Scope): MemoryStoredRows {
    return new MemoryStoredRows(
      ({ model }) => this.database.resourceOf(model),
      rows,
      rows.inside ?? context,
      this.sources,
    )
  }
}

/** The tenant is that of the caller: rows of every tenant may refer to a resource that belongs to none. */
const limitsOf = ({ context }: Scope, options: RelatedOptions | undefined) => ({
  most: options?.mostRows ?? MAX_RELATED,
  tenant: context.tenant,
  access: options?.related,
})
