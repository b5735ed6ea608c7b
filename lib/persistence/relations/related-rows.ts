import type { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { ListPlan } from '../contract/list-plan.js'
import { surrounding } from '../contract/open-transaction.js'
import type { OperationOptions, Page } from '../contract/repository.js'
import { type Scope, scopeOf } from '../contract/scope.js'
import type { Hooks, ManagerOf } from '../hooks/call-hooks.js'
import { loadRelated } from './load-related.js'
import { loadTrees } from './relation-loads.js'

/** The rows of another resource in the same database, and who is told when they are read. `At` is where a statement goes. */
export interface RelatedTable<At> {
  list(at: At, plan: ListPlan, tenant: string | undefined): Promise<Page<object>>
  readonly hooks: Pick<Hooks<object>, 'followLoads' | 'loaded'>
  readonly managerOf?: (at: At) => ReturnType<ManagerOf>
}

/** An operation that has read entities. */
export interface Reading<At> {
  readonly at: At
  readonly scope: Scope
  readonly options: OperationOptions | undefined
}

/** Reads the relations of one resource. */
export class RelatedRows<At> {
  readonly #tables = new Map<ResourceModel, RelatedTable<At>>()

  /** @param open - the rows of another resource. */
  constructor(
    private readonly model: ResourceModel,
    private readonly open: (target: ResourceModel) => RelatedTable<At>,
  ) {}

  /**
   * Reads the relations of these paths into the entities.
   * @throws TypeError for a path that is none, PermissionDenied for what belongs to a tenant where the call has none.
   */
  async read(entities: readonly object[], paths: readonly string[], reading: Reading<At>): Promise<void> {
    const { at, scope, options } = reading
    await loadRelated(entities, loadTrees(this.model, paths), scope.tenant, {
      // Of what a shared resource leads to, too, a call reaches what is its tenant's.
      list: (target, plan) => {
        const { tenant } = scopeOf(target, { context: scope.context })
        return this.#tableOf(target).list(at, plan, tenant)
      },
      loaded: (target, found) => {
        const { hooks, managerOf } = this.#tableOf(target)
        if (!hooks.followLoads('batchGet')) return undefined
        const inside: RequestContext = scope.context.with({ transaction: surrounding(options?.context) })
        return hooks.loaded('batchGet', found, inside, () => managerOf?.(at))
      },
    })
  }

  #tableOf(target: ResourceModel): RelatedTable<At> {
    let table = this.#tables.get(target)
    if (table === undefined) this.#tables.set(target, (table = this.open(target)))
    return table
  }
}
