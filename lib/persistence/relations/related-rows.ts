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
 * The rows of another resource in the same database, and the hooks that run when they are read. `At` is the
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

/** The rows of a resource that a call reaches. */
export interface Reached<T> {
  readonly table: T
  /** Undefined where they are not of one. */
  readonly tenant: string | undefined
}

/** A search among them. */
export interface Asked<T> extends Reached<T> {
  readonly search: Search
}

/** Clients choose paths, of which there are not many. */
const KNOWN_TREES = 100

/** Reads the relations of one resource. */
export class RelatedRows<At, T extends RelatedTable<At> = RelatedTable<At>> {
  readonly #tables = new Map<ResourceModel, T>()
  readonly #trees = new BoundedCache<string, readonly LoadTree[]>(KNOWN_TREES, 'relation_trees')

  /** @param open - the rows of another resource. */
  constructor(
    private readonly model: ResourceModel,
    private readonly open: (target: ResourceModel) => T,
  ) {}

  /**
   * Reads the relations of these paths into the entities.
   * @throws TypeError for an invalid path, or one that would mix tenants; PermissionDenied if the target
   * belongs to a tenant and the call has none.
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

  /** @throws TypeError for a path that is not a relation, or one that would mix tenants. */
  protected trees(paths: readonly string[], { tenant }: Scope): readonly LoadTree[] {
    const key = paths.join('\0')
    let trees = this.#trees.get(key)
    if (trees === undefined) this.#trees.set(key, (trees = loadTrees(this.model, paths)))
    if (tenant === undefined && this.model.tenant !== undefined) checkTenants(trees)
    return trees
  }

  /** Of what a shared resource leads to, too, a call reaches what is its tenant's. */
  protected reached({ target }: RelationLoad, { context }: Scope): Reached<T> {
    const { tenant } = scopeOf(target, { context })
    return { table: this.#tableOf(target), tenant }
  }

  /** The rows of each search, with one statement each. */
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
 * Entities of several tenants share one object of what the tenants share, which could not have the rows of
 * one tenant alone.
 */
function checkTenants(trees: readonly LoadTree[]): void {
  for (const { source, target, below } of trees) {
    if (source.tenant === undefined && target.tenant !== undefined) throw acrossTenants(source, target)
    checkTenants(below)
  }
}
