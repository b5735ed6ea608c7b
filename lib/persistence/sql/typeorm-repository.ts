import type { DataSource, EntityManager } from 'typeorm'
import { RequestContext } from '../../context.js'
import type { NewEntity } from '../../resource/new-entity-of.js'
import {
  type CredentialField,
  type EntityClass,
  type ResourceModel,
  type SecretField,
  resourceModel,
} from '../../resource/resource-model.js'
import { checkBatch } from '../contract/batch.js'
import { checkCredential, type Verification, withFreshMint } from '../contract/credential-check.js'
import { purgeThreshold } from '../contract/purge-threshold.js'
import { relatedQuestions } from '../deletion/rules/related-questions.js'
import { Family } from '../deletion/sql/family.js'
import { purgeInChunks } from '../deletion/sql/purge-in-chunks.js'
import { DataSourceCheck } from './data-source-check.js'
import { executorOf } from '../engines/executor-of.js'
import type { Database } from '../engines/executor/executor.js'
import type { PagingOptions } from '../contract/list-plan.js'
import type { Patch } from '../../resource/values/increment.js'
import type { ReferringOptions } from '../contract/related-options.js'
import { modify } from '../contract/modify.js'
import { hasOwnKey, newEntity, type Sources, type Values } from '../contract/new-entity.js'
import { deletionOf, patchesOf, patchOf, restorationOf, serverSetValues } from '../contract/patch.js'
import { isStorable } from '../query/reachable.js'
import { byKey, joinOptions, type Scope, scopeOf } from '../contract/scope.js'
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
import { IndexErrors } from '../schema/index-errors.js'
import { Operations } from './operations.js'
import { planCount, planPage } from '../relations/plan-page.js'
import { type MergeOptions, mergeOf } from '../merging/merge.js'
import type { Finds } from '../rows/finds.js'
import { notFound } from '../rows/misses.js'
import type { SqlCall } from '../rows/row-call.js'
import { targetOf } from '../rows/row-target.js'
import { RowWriter } from '../rows/row-writer.js'
import type { Rows } from '../rows/rows.js'
import { familyRowsOf, rowsOf } from './rows-of.js'
import type { RowStore } from './row-store.js'
import { checkMinter, mint, protectNew, reveal, type SecretOptions } from '../contract/secret-fields.js'
import { current, transaction } from './transaction.js'
import type { TransactionContext } from './transaction-context.js'
import { joinedRepository } from './joined-repository.js'

/** Options of a repository on a DataSource. */
export interface RepositoryOptions extends Sources, PagingOptions, SecretOptions, MergeOptions {}

/**
 * The repository of one entity on a TypeORM DataSource: SQLite, PostgreSQL or MySQL. TypeORM gives the pool and the
 * metadata; every statement is the repository's own.
 */
export class TypeormRepository<E extends object> implements Repository<E> {
  static {
    watchOperations(this.prototype as TypeormRepository<object>, (repository) => repository.#database)
  }

  readonly model: ResourceModel<E>
  readonly appliesWhere = true
  readonly isForDevelopment: boolean
  readonly table: DataSourceCheck['table']
  readonly #options: RepositoryOptions
  readonly #database: Database
  readonly #store: RowStore<E>
  readonly #rows: Rows<E>
  readonly #finds: Finds<E>
  readonly #writer: RowWriter<E>
  readonly #check: DataSourceCheck
  readonly #operations: Operations
  readonly #family: Family<E>

  constructor(dataSource: DataSource, entity: EntityClass<E>, options: RepositoryOptions = {}) {
    watchOverrides(this)
    this.model = resourceModel(entity)
    checkMinter(this.model, options)
    this.isForDevelopment = options.encryptor?.development === true
    this.#options = options
    this.#database = executorOf(dataSource)
    this.#check = new DataSourceCheck(this.#database, this.model)
    this.table = this.#check.table
    const parts = rowsOf(this.#database, this.model, mergeOf(dataSource, options))
    const { store, references, hooks } = parts
    const { dialect } = this.#database
    this.#rows = parts.rows
    this.#finds = parts.finds
    this.#store = store
    this.#writer = new RowWriter(this.#rows, {
      model: store.model,
      rangeOf: ({ kind }) => dialect.kinds[kind].range,
      refers: references !== undefined,
      tenantsOf: (call, key) => store.tenantsOf(call, key),
    })
    this.#family = new Family(this.#database, this.model, this.#writer, options, familyRowsOf(this.#database))
    this.#operations = new Operations(
      this.#database,
      this.model,
      this.#check,
      store.statements.canReturn,
      new IndexErrors(this.model, dialect, this.table),
      hooks.isSilent ? undefined : hooks,
      references,
    )
  }

  readonly startUpCheck = () => this.#check.startUp()
  readonly relatedQuestions = (options: { readonly force: boolean }) =>
    relatedQuestions(this.#family.member, options)

  get(key: string, options?: ReadOptions): Promise<E> {
    return this.#operations.read('get', options, async (call, scope, lock) => {
      const row = this.#writer.known({ key, scope }) ?? (await this.#writer.search(call, { key, scope }))
      return (await this.#rows.get(call, row, { lock })) ?? notFound()
    })
  }

  list(list: ListOptions<E> & ReadTogether<string> = {}, options?: ListScope): Promise<Page<E>> {
    return this.#operations.read(
      'list',
      options,
      (call, scope, lock, kept) => {
        const plan = planPage(this.model, list, scope, this.#options, options)
        return this.#store.lists.list(call, plan, scope.tenant, { lock, kept })
      },
      { mayLeaveOut: true, with: list.with },
    )
  }

  count(list: ListFilter = {}, options: CountOptions = {}): Promise<number> {
    return this.#operations.read('count', options, (call, scope) =>
      this.#store.lists.count(call, planCount(this.model, list, scope, options), scope.tenant),
    )
  }

  async exists(list?: ListFilter, options?: FilterScope): Promise<boolean> {
    return (await this.count(list, joinOptions(options, { limit: 1 }))) > 0
  }

  create(input: NewEntity<E>, options?: OperationOptions & ReferringOptions): Promise<E> {
    return this.#mint(options, (minted) =>
      this.#operations.write(
        'create',
        options,
        async (scope, refers) => {
          const entity = newEntity(this.model, input, scope, this.#options)
          const secrets = await protectNew(this.model, input as Values, this.#options, scope.context)
          minted(secrets.columns)
          const values = { ...(entity as Values), ...secrets.columns }
          await refers(values)
          const write = {
            row: targetOf(this.model, values),
            values,
            isKeyMade: !hasOwnKey(this.model, input, this.#options),
          }
          return async (call) => Object.assign(await this.#rows.insert(call, write), secrets.tokens)
        },
        !this.#rows.insertsAtOnce,
      ),
    )
  }

  update(key: string, entity: Patch<E>, fieldMask?: readonly string[], options?: UpdateOptions): Promise<E> {
    return this.#operations.write('update', options, async (scope, refers) => {
      const patch = await patchOf(this.model, entity, fieldMask, options, this.#options, scope)
      await refers(patch)
      return (call) => this.#writer.update(call, { key, scope, ifMatch: options?.ifMatch }, patch)
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
    const family = this.#family.deletes
    const prepare = async (scope: Scope) => {
      const row = { key, scope, ifMatch: options?.ifMatch }
      const patch = deletionOf(this.model, this.#options)
      return (call: SqlCall) => (family ?? this.#writer).delete(call, row, patch, options)
    }
    return this.#operations.write('delete', options, prepare, undefined, family)
  }

  async undelete(key: string, options?: UndeleteOptions): Promise<E> {
    const family = this.#family.undeletes
    const prepare = async (scope: Scope) => {
      if (this.model.deleteTime === undefined) return notFound()
      const row = { key, scope, ifMatch: options?.ifMatch }
      const patch = restorationOf(this.model, this.#options)
      return (call: SqlCall) => (family ?? this.#writer).undelete(call, row, patch, options)
    }
    return this.#operations.write('undelete', options, prepare, undefined, family)
  }

  async batchGet(keys: readonly string[], options?: BatchGetOptions): Promise<E[]> {
    checkBatch(keys, 'ids', { unique: false })
    return this.#operations.read('batchGet', options, async (call, scope, lock) => {
      const rows = await this.#rows.batchGet(call, [...new Set(keys.filter(isStorable))], scope, { lock })
      const found = byKey(this.model, rows)
      if (options?.allowMissing === true) return rows
      return keys.map((key) => (found.get(key) ?? notFound()) as E)
    })
  }

  async batchUpdate(
    items: readonly BatchUpdateItem<string, E>[],
    options?: RowOptions & ReferringOptions,
  ): Promise<E[]> {
    const keys = items.map(({ key }) => key)
    checkBatch(keys, 'requests', { unique: true })
    return this.#operations.write(
      'batchUpdate',
      options,
      async (scope, refers) => {
        const patches = await patchesOf(this.model, items, this.#options, scope)
        await refers(...patches.map(({ patch }) => patch))
        return (call) => this.#writer.updateMany(call, patches, scope)
      },
      true,
    )
  }

  async batchDelete(keys: readonly string[], options?: BatchDeleteOptions): Promise<void> {
    checkBatch(keys, 'ids', { unique: true })
    const family = this.#family.deletes
    const prepare = async (scope: Scope) => {
      const patch = deletionOf(this.model, this.#options)
      return (call: SqlCall) => (family ?? this.#writer).deleteMany(call, keys, scope, patch, options)
    }
    return this.#operations.write('batchDelete', options, prepare, true, family)
  }

  async purgeExpired(before: Date, options?: OperationOptions): Promise<number> {
    scopeOf(this.model, options)
    if (this.model.expireTime === undefined) return 0
    const { purges } = this.#family
    return purgeInChunks(this.#store, purges, purgeThreshold(before), (prepare) =>
      this.#operations.write('purgeExpired', options, prepare, undefined, purges?.purging),
    )
  }

  /** As in {@link Repository}; the context of `fn` has TypeORM's `manager` and `sql` as well. */
  async transaction<R>(fn: (context: TransactionContext) => Promise<R>, options?: TransactionOptions) {
    scopeOf(this.model, options)
    return transaction(this.#database, fn, options)
  }

  /**
   * The repository inside of a transaction that TypeORM has begun: `dataSource.transaction((manager) =>
   * widgets.withManager(manager).create(...))`. Nothing else makes it join one.
   * @throws TypeError when the manager has no transaction open, or is of another DataSource.
   */
  withManager(manager: EntityManager): this {
    return joinedRepository(this, this.#database, manager)
  }

  checkWrites(): Promise<void> {
    return this.#database.checkWrites()
  }

  /** What `lookupBy<Field>Hash` calls. */
  protected lookup({ hash }: SecretField, value: string, options?: ReadOptions): Promise<E> {
    return this.#operations.read('lookup', options, async (call, scope) => {
      if (!isStorable(value)) return notFound()
      const [first] = await this.#finds.find(call, hash, value, scope)
      return first?.entity ?? notFound()
    })
  }

  /** What `reveal<Field>` calls. */
  protected async reveal(
    { cipher }: SecretField,
    key: string,
    options?: RowOptions,
  ): Promise<string | undefined> {
    const scope = scopeOf(this.model, options)
    const [row] = await this.#operations.read('reveal', options, async (call) => {
      const row = await this.#writer.target(call, { key, scope })
      return this.#finds.find(call, this.model.key, key, row)
    })
    return reveal((row ?? notFound()).columns[cipher.property], this.#options, scope.context)
  }

  /** What `verify<Field>` calls: it searches all tenants, because the record is what says whose call it is. */
  protected async verify(
    credential: CredentialField,
    token: string,
    options?: OperationOptions,
  ): Promise<Verification<E>> {
    const scope = { context: options?.context ?? RequestContext.current(), tenant: undefined }
    return this.#operations.perform('verify', options, scope, async (call) => {
      const find = (id: string) => this.#finds.find(call, credential.publicId, id, scope)
      const specs =
        call.on === this.#database ? this.#store.lists.specsOf(credential, this.#database) : undefined
      return checkCredential(this.model, credential, token, this.#options, find, specs, scope.context)
    })
  }

  /** What `remint<Field>` calls. */
  protected remint(credential: CredentialField, key: string, options?: RowOptions): Promise<string> {
    return this.#mint(options, (minted) =>
      this.#operations.write('remint', options, async (scope) => {
        const { columns, tokens } = await mint(this.model, credential.property, this.#options, scope.context)
        minted(columns)
        const patch = { ...columns, ...serverSetValues(this.model, this.#options) }
        return async (call) => {
          await this.#writer.update(call, { key, scope }, patch)
          return tokens[credential.property] as string
        }
      }),
    )
  }

  #mint<T>(
    options: OperationOptions | undefined,
    attempt: (minted: (columns: Values) => void) => Promise<T>,
  ) {
    return withFreshMint(this.model, attempt, async ({ column }, publicId) => {
      const on = current(this.#database, options?.context)
      return (await on.run(this.#store.statements.has(column), [publicId])).rows.length > 0
    })
  }
}
