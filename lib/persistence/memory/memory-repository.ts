import type { RequestContext } from '../../context.js'
import type { NewEntity } from '../../resource/new-entity-of.js'
import {
  type CredentialField,
  type EntityClass,
  type ResourceModel,
  type SecretField,
  resourceModel,
} from '../../resource/resource-model.js'
import { checkBatch } from '../contract/batch.js'
import {
  checkCredential,
  type CredentialRow,
  type Verification,
  withFreshMint,
} from '../contract/credential-check.js'
import { purgeThreshold } from '../deletion/rules/purge-threshold.js'
import type { PagingOptions } from '../contract/list-plan.js'
import { Hooks, toCaller } from '../hooks/call-hooks.js'
import { relatedQuestions } from '../deletion/rules/related-questions.js'
import { withLoadHooks } from '../hooks/with-load-hooks.js'
import { MemoryDatabase } from './memory-database.js'
import { MemoryFamily } from './memory-family.js'
import { MemoryReferences } from './memory-references.js'
import { MemoryTable } from './memory-table.js'
import { type HookedMemoryRows, MemoryWriter } from './memory-writer.js'
import { planCount, planPage } from '../relations/plan-page.js'
import { pageOf } from './page-of.js'
import { readRelated } from './read-related.js'
import { type RowsBeside, rowsBeside } from './rows-beside.js'
import { rowsOf } from './rows-of.js'
import type { Patch } from '../../resource/values/increment.js'
import { modify } from '../contract/modify.js'
import { newEntity, type Sources, type Values } from '../contract/new-entity.js'
import { deletionOf, patchesOf, patchOf, restorationOf, serverSetValues } from '../contract/patch.js'
import type { ReferringOptions } from '../contract/related-options.js'
import { lockOf } from '../contract/row-lock.js'
import { joinOptions, scopeOf, type Scope } from '../contract/scope.js'
import { byCodePoint } from '../../text/code-point-order.js'
import { watchOperations, watchOverrides } from '../contract/watched-operations.js'
import type {
  BatchDeleteOptions,
  BatchGetOptions,
  BatchUpdateItem,
  CountOptions,
  DeleteOptions,
  FilterScope,
  ListFilter,
  ListOptions,
  ListScope,
  ModifyOptions,
  OperationOptions,
  Page,
  ReadOptions,
  ReadTogether,
  Repository,
  RowOptions,
  TransactionOptions,
  UndeleteOptions,
  UpdateOptions,
} from '../contract/repository.js'
import { checkMinter, mint, protectNew, reveal, type SecretOptions } from '../contract/secret-fields.js'

/** Options of a repository in memory. */
export interface MemoryOptions extends Sources, PagingOptions, SecretOptions {
  /** Share it between repositories that write in one transaction. Default: a database of its own. */
  readonly database?: MemoryDatabase
}

/**
 * A repository that stores everything in this process, for development and tests. It behaves like the SQL backends
 * except for search, which it ignores.
 */
export class MemoryRepository<E extends object> implements Repository<E> {
  static {
    watchOperations(this.prototype as MemoryRepository<object>, (repository) => repository.#database)
  }

  readonly model: ResourceModel<E>
  readonly appliesWhere = true
  readonly isForDevelopment: boolean
  readonly #options: MemoryOptions
  readonly #database: MemoryDatabase
  readonly #table: MemoryTable<E>
  readonly #beside: RowsBeside<E>
  readonly #hooks: Hooks<E>
  readonly #writer: MemoryWriter<E>
  readonly #family: MemoryFamily<E>

  constructor(entity: EntityClass<E>, options: MemoryOptions = {}) {
    watchOverrides(this)
    this.model = resourceModel(entity)
    checkMinter(this.model, options)
    this.isForDevelopment = options.encryptor?.development === true
    this.#options = options
    this.#database = options.database ?? new MemoryDatabase()
    this.#table = new MemoryTable(this.model, this.#database.outbox)
    this.#beside = rowsBeside(this.#table, this.#database)
    this.#hooks = new Hooks(this.model)
    const references = MemoryReferences.of(this.model as unknown as ResourceModel, this.#database)
    this.#writer = new MemoryWriter(this.model, this.#table, this.#hooks, references)
    this.#family = new MemoryFamily(this.#database, this.model, this.#writer, options)
    this.#database.add(this.model, this.#table, this.#writer, this.#hooks)
  }

  readonly relatedQuestions = (options: { readonly force: boolean }) =>
    relatedQuestions(this.#family.member, options)

  async get(key: string, options?: ReadOptions): Promise<E> {
    this.#checkLock('get', options)
    return this.#read('get', options, (scope) => this.#table.entityOf(this.#table.liveRow(key, scope)))
  }

  async list(list: ListOptions<E> & ReadTogether<string> = {}, options?: ListScope): Promise<Page<E>> {
    const scope = scopeOf(this.model, options)
    this.#checkLock('list', options, { mayLeaveOut: true })
    const plan = planPage(this.model, list, scope, this.#options, options)
    return this.#read('list', options, pageOf(this.model, this.#beside, plan, scope), list.with)
  }

  async count(list: ListFilter = {}, options: CountOptions = {}): Promise<number> {
    const scope = scopeOf(this.model, options)
    const plan = planCount(this.model, list, scope, options)
    const rows = await this.#read('count', options, rowsOf(this.model, this.#beside, plan, scope))
    return Math.min(rows.length, plan.limit ?? Number.POSITIVE_INFINITY)
  }

  async exists(list?: ListFilter, options?: FilterScope): Promise<boolean> {
    return (await this.count(list, joinOptions(options, { limit: 1 }))) > 0
  }

  create(input: NewEntity<E>, options?: OperationOptions & ReferringOptions): Promise<E> {
    return this.#mint('create', options, async (rows, minted) => {
      const scope = scopeOf(this.model, options)
      const entity = newEntity(this.model, input, scope, this.#options)
      const secrets = await protectNew(this.model, input as Values, this.#options, scope.context)
      minted(secrets.columns)
      const refers = await this.#writer.referring(rows, options?.references, [entity as Values])
      return Object.assign(await this.#writer.insert(refers, entity, secrets.columns), secrets.tokens)
    })
  }

  update(key: string, entity: Patch<E>, fieldMask?: readonly string[], options?: UpdateOptions): Promise<E> {
    return this.#perform('update', options, async (rows) => {
      const scope = scopeOf(this.model, options)
      const patch = await patchOf(this.model, entity, fieldMask, options, this.#options, scope)
      const refers = await this.#writer.referring(rows, options?.references, [patch])
      return this.#writer.update(refers, { key, scope, ifMatch: options?.ifMatch }, patch)
    })
  }

  async modify(
    key: string,
    change: (current: E) => Patch<E> | Promise<Patch<E>>,
    options?: ModifyOptions,
  ): Promise<E> {
    return modify(this, this.#database, key, change, options)
  }

  async delete(key: string, options?: DeleteOptions): Promise<void> {
    const { deletes } = this.#family
    const work = (rows: HookedMemoryRows) => {
      const row = { key, scope: scopeOf(this.model, options), ifMatch: options?.ifMatch }
      return this.#family.delete(rows, row, deletionOf(this.model, this.#options), options)
    }
    return this.#perform('delete', options, async (rows) => work(rows), deletes)
  }

  async undelete(key: string, options?: UndeleteOptions): Promise<E> {
    const { undeletes } = this.#family
    const work = (rows: HookedMemoryRows) => {
      const row = { key, scope: scopeOf(this.model, options), ifMatch: options?.ifMatch }
      return this.#family.undelete(rows, row, restorationOf(this.model, this.#options), options)
    }
    return this.#perform('undelete', options, async (rows) => work(rows), undeletes)
  }

  async batchGet(keys: readonly string[], options?: BatchGetOptions): Promise<E[]> {
    checkBatch(keys, 'ids', { unique: false })
    this.#checkLock('batchGet', options)
    return this.#read('batchGet', options, (scope) =>
      this.#table.liveRows(keys, scope, options?.allowMissing).map((row) => this.#table.entityOf(row)),
    )
  }

  batchUpdate(
    items: readonly BatchUpdateItem<string, E>[],
    options?: RowOptions & ReferringOptions,
  ): Promise<E[]> {
    return this.#perform('batchUpdate', options, async (rows) => {
      const keys = items.map(({ key }) => key)
      checkBatch(keys, 'requests', { unique: true })
      const scope = scopeOf(this.model, options)
      const patches = await patchesOf(this.model, items, this.#options, scope)
      const written = patches.map(({ patch }) => patch)
      const refers = await this.#writer.referring(rows, options?.references, written)
      return this.#writer.updateMany(refers, patches, scope)
    })
  }

  async batchDelete(keys: readonly string[], options?: BatchDeleteOptions): Promise<void> {
    checkBatch(keys, 'ids', { unique: true })
    const { deletes } = this.#family
    const work = (rows: HookedMemoryRows) => {
      const scope = scopeOf(this.model, options)
      return this.#family.deleteMany(rows, keys, scope, deletionOf(this.model, this.#options), options)
    }
    return this.#perform('batchDelete', options, async (rows) => work(rows), deletes)
  }

  async purgeExpired(before: Date, options?: OperationOptions): Promise<number> {
    const work = async (rows: HookedMemoryRows) => {
      const scope = scopeOf(this.model, options)
      if (this.model.expireTime === undefined) return 0
      return this.#family.purge(rows, purgeThreshold(before), scope)
    }
    return this.#perform('purgeExpired', options, work, this.#family.deletes)
  }

  async transaction<R>(
    fn: (context: RequestContext) => Promise<R>,
    options?: TransactionOptions,
  ): Promise<R> {
    scopeOf(this.model, options)
    return this.#database.transaction(fn, options)
  }

  /** Called by `lookupBy<Field>Hash`. */
  protected lookup({ hash }: SecretField, value: string, options?: ReadOptions): Promise<E> {
    return this.#read('lookup', options, (scope) => {
      const ofValue = this.#table.filter(
        (row) =>
          row[hash.property] === value && this.#table.isLive(row) && this.#table.belongsTo(row, scope.tenant),
      )
      const found = this.#table.within(ofValue, scope)
      if (scope.tenant === undefined && this.model.tenant !== undefined)
        return this.#table.entityOf(this.#table.only(found))
      const { property } = this.model.key
      const sorted = found.sort((a, b) => byCodePoint(a[property] as string, b[property] as string))
      return this.#table.entityOf(this.#table.only(sorted.slice(0, 1)))
    })
  }

  /** Called by `reveal<Field>`. */
  protected async reveal(
    { cipher }: SecretField,
    key: string,
    options?: RowOptions,
  ): Promise<string | undefined> {
    const scope = scopeOf(this.model, options)
    const stored = await this.#read('reveal', options, () => this.#table.liveRow(key, scope)[cipher.property])
    return reveal(stored, this.#options, scope.context)
  }

  /** Called by `verify<Field>`. */
  protected verify(
    credential: CredentialField,
    token: string,
    options?: OperationOptions,
  ): Promise<Verification<E>> {
    return this.#perform('verify', options, ({ read }) => {
      const find = (id: string): Promise<CredentialRow<E>[]> =>
        read(() => {
          const { property } = credential.publicId
          const found = this.#table.filter((row) => row[property] === id && this.#table.isLive(row))
          return found.map((columns) => ({ entity: this.#table.entityOf(columns), columns }))
        })
      const caller = options?.context ?? {}
      // Its minter has minted all that are stored.
      return checkCredential(this.model, credential, token, this.#options, find, undefined, caller)
    })
  }

  /** Called by `remint<Field>`. */
  protected remint(credential: CredentialField, key: string, options?: RowOptions): Promise<string> {
    return this.#mint('remint', options, async (rows, minted) => {
      const scope = scopeOf(this.model, options)
      const { columns, tokens } = await mint(this.model, credential.property, this.#options, scope.context)
      minted(columns)
      const patch = { ...columns, ...serverSetValues(this.model, this.#options) }
      await this.#writer.update(rows, { key, scope }, patch)
      return tokens[credential.property] as string
    })
  }

  #mint<T>(
    name: string,
    options: OperationOptions | undefined,
    attempt: (rows: HookedMemoryRows, minted: (columns: Values) => void) => Promise<T>,
  ): Promise<T> {
    return this.#perform(name, options, (rows) =>
      withFreshMint(
        this.model,
        (minted) => attempt(rows, minted),
        ({ property }, publicId) =>
          Promise.resolve(this.#table.filter((row) => row[property] === publicId).length > 0),
      ),
    )
  }

  #read<T>(
    name: string,
    options: (RowOptions & ReadTogether<string>) | undefined,
    read: (scope: Scope) => T,
    paths = options?.with,
  ): Promise<T> {
    return this.#perform(name, options, async (rows) => {
      const scope = scopeOf(this.model, options)
      const result = await rows.read(() => read(scope))
      if (paths !== undefined)
        await readRelated(this.#database, this.model, { name, result, paths }, { at: rows, scope, options })
      if (!this.#hooks.followLoads(name)) return result
      const loaded = (inside: RequestContext) => this.#hooks.loaded(name, result, inside)
      await toCaller(withLoadHooks(scope.context, options?.context, loaded))
      return result
    })
  }

  /**
   * Runs in the transaction that the call joins, which does not end before it.
   * @param isTogether - writes rows of several resources, as one.
   */
  async #perform<T>(
    name: string,
    options: OperationOptions | undefined,
    work: (rows: HookedMemoryRows) => Promise<T>,
    isTogether = false,
  ): Promise<T> {
    if (isTogether || (!this.#hooks.isSilent && this.#hooks.surround(name)))
      return toCaller(
        this.#database.withHooks(options?.context, this.#named(name), (rows, inside) =>
          work({ ...rows, inside }),
        ),
      )
    return this.#database.perform(options?.context, this.#named(name), work)
  }

  /** A transaction has the database for itself, so there is nothing to lock. */
  #checkLock(name: string, options: ListScope | undefined, locking?: { mayLeaveOut: boolean }): void {
    if (options?.lock === undefined && options?.wait === undefined) return
    lockOf(this.#database, this.#named(name), options, locking)
  }

  #named(name: string): string {
    return `${this.model.entity.name}.${name}`
  }
}
