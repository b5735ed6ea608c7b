import { BoundedCache } from '../../bounded-cache.js'
import type { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { ListPlan } from '../contract/list-plan.js'
import { surrounding } from '../contract/open-transaction.js'
import type { OperationOptions, Page } from '../contract/repository.js'
import { type Scope, scopeOf } from '../contract/scope.js'
import type { Hooks, ManagerOf } from '../hooks/call-hooks.js'
import { loadRelated } from './load-related.js'
import { acrossTenants, type LoadTree, loadTrees, type RelationLoad } from './relation-loads.js'
import { listOf, type Search } from './search.js'

/**
 * The rows of another resource in the same database, with the hooks to call when they are read. `At` is the
 * executor of a statement.
 */
export interface RelatedTable<At> {
  list(at: At, plan: ListPlan, tenant: string | undefined): Promise<Page<object>>
  readonly hooks: Pick<Hooks<object>, 'listensTo' | 'loaded'>
  readonly managerOf?: (at: At) => ReturnType<ManagerOf>
}

/** An operation that has read entities. */
export interface Reading<At> {
  readonly at: At
  readonly scope: Scope
  readonly options: OperationOptions | undefined
}

/** The rows of a resource that a call can reach. */
export interface Reached<T> {
  readonly table: T
  /** Undefined if the rows belong to several tenants or none. */
  readonly tenant: string | undefined
}

/** A search among these rows. */
export interface Asked<T> extends Reached<T> {
  readonly search: Search
}

/** The size of the cache. Clients choose paths, but there are few different ones. */
const KNOWN_TREES = 100

/** Reads the relations of one resource. */
export class RelatedRows<At, T extends RelatedTable<At> = RelatedTable<At>> {
  readonly #tables = new Map<ResourceModel, T>()
  readonly #trees = new BoundedCache<string, readonly LoadTree[]>(KNOWN_TREES, 'relation_trees')

  /**
   * @param open - returns the rows of another resource.
   */
  constructor(
    private readonly model: ResourceModel,
    private readonly open: (target: ResourceModel) => T,
  ) {}

  /**
   * Reads the relations of these paths into the entities.
   *
   * @throws TypeError if a path is invalid, or would mix tenants.
   * @throws PermissionDenied if the target has a tenant and the call has none.
   */
  async read(entities: readonly object[], paths: readonly string[], reading: Reading<At>): Promise<void> {
    const { at, scope, options } = reading
    await loadRelated(entities, this.trees(paths, scope), scope.tenant, {
      find: (searches) => {
        const asked = searches.map((search) => ({ search, ...this.reached(search.relation, scope) }))
        return this.find(at, asked)
      },
      loaded: (target, entities) => {
        const { hooks, managerOf } = this.#tableOf(target)
        if (!hooks.listensTo('AfterLoad')) return undefined
        const found = entities()
        if (found.length === 0) return undefined
        const inside: RequestContext = scope.context.with({ transaction: surrounding(options?.context) })
        return hooks.loaded('batchGet', found, inside, () => managerOf?.(at))
      },
    })
  }

  /**
   * Returns the relations of the paths.
   *
   * @throws TypeError if a path is not a relation, or would mix tenants.
   */
  protected trees(paths: readonly string[], { tenant }: Scope): readonly LoadTree[] {
    const key = paths.join('\0')
    let trees = this.#trees.get(key)
    if (trees === undefined) this.#trees.set(key, (trees = loadTrees(this.model, paths)))
    if (tenant === undefined && this.model.tenant !== undefined) checkTenants(trees)
    return trees
  }

  /** Returns the target's table and the call's tenant, even if all tenants share the source. */
  protected reached({ target }: RelationLoad, { context }: Scope): Reached<T> {
    const { tenant } = scopeOf(target, { context })
    return { table: this.#tableOf(target), tenant }
  }

  /** Returns the rows of each search, with one statement per search. */
  protected find(at: At, asked: readonly Asked<T>[]): Promise<readonly (readonly object[])[]> {
    return Promise.all(
      asked.map(async ({ table, search, tenant }) => (await table.list(at, listOf(search), tenant)).items),
    )
  }

  #tableOf(target: ResourceModel): T {
    let table = this.#tables.get(target)
    if (table === undefined) this.#tables.set(target, (table = this.open(target)))
    return table
  }
}

/**
 * Rejects relations from a shared resource to rows of tenants if the call spans several tenants. One object
 * of the shared resource could not have the rows of each tenant.
 */
function checkTenants(trees: readonly LoadTree[]): void {
  for (const { source, target, below } of trees) {
    if (source.tenant === undefined && target.tenant !== undefined) throw acrossTenants(source, target)
    checkTenants(below)
  }
}
