import type { DataSource } from 'typeorm'
import { RequestContext } from '../../context.js'
import { ErrNotFound } from '../../errors.js'
import {
  type CredentialField,
  type EntityClass,
  type ResourceModel,
  type SecretField,
  resourceModel,
} from '../../resource/resource-model.js'
import { checkBatch, inKeyOrder, isUnconditional, type Patched } from '../contract/batch.js'
import { updateInGroups } from './batch-update.js'
import { checkCredential, type Verification } from '../contract/credential-check.js'
import { purgeThreshold } from '../contract/purge-threshold.js'
import { DataSourceCheck } from './data-source-check.js'
import { executorOf } from '../engines/executor-of.js'
import type { Database, Executor, RunOptions } from '../engines/executor/executor.js'
import { withFreshMint } from '../contract/fresh-mint.js'
import { planList, type PagingOptions } from '../contract/list-plan.js'
import { newEntity, type Sources, type Values } from '../contract/new-entity.js'
import { deletionOf, patchesOf, patchOf, restorationOf, serverSetValues } from '../contract/patch.js'
import { explainDeletedMiss, explainMiss, notFound } from './preconditions.js'
import { byCodePoint } from '../query/code-point-order.js'
import { isStorable } from '../query/reachable.js'
import { canMatch, ambiguousKey, byKey, scopeOf, type Scope } from '../contract/scope.js'
import { TAKES_CONTEXT } from '../contract/repository.js'
import { watchOperations } from '../contract/watched-operations.js'
import type {
  BatchUpdateItem,
  ListOptions,
  ListScope,
  OperationOptions,
  Page,
  ReadOptions,
  Repository,
  RowOptions,
  TransactionOptions,
  UpdateOptions,
  WriteOptions,
} from '../contract/repository.js'
import { Operations } from './operations.js'
import { RowStore, type Target } from './row-store.js'
import { checkMinter, mint, protectNew, reveal, type SecretOptions } from '../contract/secret-fields.js'
import { current, transaction } from './transaction.js'

export interface RepositoryOptions extends Sources, PagingOptions, SecretOptions {}

/** Rows removed by one statement of a purge, so that none of them holds its locks for long. */
const PURGE_CHUNK = 1000

/**
 * The repository of one entity on a TypeORM DataSource: SQLite, PostgreSQL or MySQL. TypeORM gives the pool and the
 * metadata; every statement is the repository's own.
 */
export class TypeormRepository<E extends object> implements Repository<E> {
  static {
    Object.defineProperty(this.prototype, TAKES_CONTEXT, { value: true })
    watchOperations(this.prototype as TypeormRepository<object>, (repository) => repository.#database)
  }

  readonly model: ResourceModel<E>
  readonly appliesWhere = true
  readonly isForDevelopment: boolean
  readonly table: DataSourceCheck['table']
  readonly #options: RepositoryOptions
  readonly #database: Database
  readonly #rows: RowStore<E>
  readonly #check: DataSourceCheck
  readonly #operations: Operations

  constructor(dataSource: DataSource, entity: EntityClass<E>, options: RepositoryOptions = {}) {
    this.model = resourceModel(entity)
    checkMinter(this.model, options)
    this.isForDevelopment = options.encryptor?.development === true
    this.#options = options
    this.#database = executorOf(dataSource)
    this.#check = new DataSourceCheck(this.#database, this.model)
    this.table = this.#check.table
    this.#rows = new RowStore(this.model, this.#database.dialect, this.table)
    this.#operations = new Operations(
      this.#database,
      this.model,
      this.#check,
      this.#rows.statements.canReturn,
    )
  }

  readonly startUpCheck = () => this.#check.findings()

  get(key: string, options?: ReadOptions): Promise<E> {
    return this.#operations.read('get', options, async (on, scope, run, lock) => {
      const target = this.#targetIn(scope, key) ?? (await this.#searched(on, key, scope, run))
      return (await this.#rows.get(on, target, run, { lock })) ?? notFound()
    })
  }

  list(list: ListOptions<E> = {}, options?: ListScope): Promise<Page<E>> {
    return this.#operations.read(
      'list',
      options,
      (on, scope, run, lock) => {
        const plan = planList(this.model, list, scope, this.#options, options?.under)
        return this.#rows.list(on, plan, scope.tenant, run, lock)
      },
      { mayLeaveOut: true },
    )
  }

  create(input: Partial<E>, options?: OperationOptions): Promise<E> {
    return this.#mint(options, (minted) =>
      this.#operations.write('create', options, async (scope) => {
        const entity = newEntity(this.model, input, scope, this.#options)
        const secrets = await protectNew(this.model, input as Values, this.#options, scope.context.signal)
        minted(secrets.columns)
        const values = { ...(entity as Values), ...secrets.columns }
        return async (on, run) => Object.assign(await this.#rows.insert(on, values, run), secrets.tokens)
      }),
    )
  }

  update(
    key: string,
    entity: Partial<E>,
    fieldMask?: readonly string[],
    options?: UpdateOptions,
  ): Promise<E> {
    return this.#operations.write('update', options, async (scope) => {
      const patch = await patchOf(this.model, entity, fieldMask, options, this.#options, scope)
      return (on, run) => this.#updateOne(on, key, patch, scope, run, options?.ifMatch)
    })
  }

  delete(key: string, options?: WriteOptions): Promise<void> {
    return this.#operations.write('delete', options, async (scope) => {
      const patch = deletionOf(this.model, this.#options)
      return async (on, run) => {
        const target = await this.#target(on, key, scope, run, options?.ifMatch)
        const deleted =
          canMatch(this.model, target.ifMatch) && (await this.#rows.delete(on, target, patch, run))
        if (!deleted) await explainMiss(this.#rows, on, target, run)
      }
    })
  }

  undelete(key: string, options?: WriteOptions): Promise<E> {
    return this.#operations.write('undelete', options, async (scope) => {
      if (this.model.deleteTime === undefined) return notFound()
      const patch = restorationOf(this.model, this.#options)
      return async (on, run) => {
        const target = await this.#target(on, key, scope, run, options?.ifMatch)
        const restored = canMatch(this.model, target.ifMatch)
          ? await this.#rows.undelete(on, target, patch, run)
          : undefined
        return restored ?? explainDeletedMiss(this.#rows, on, target, run)
      }
    })
  }

  async batchGet(keys: readonly string[], options?: ReadOptions): Promise<E[]> {
    checkBatch(keys, 'ids', { unique: false })
    return this.#operations.read('batchGet', options, async (on, scope, run, lock) => {
      if (!keys.every(isStorable)) return notFound()
      const rows = await this.#rows.batchGet(on, [...new Set(keys)], scope, run, lock)
      const found = byKey(this.model, rows)
      return keys.map((key) => (found.get(key) ?? notFound()) as E)
    })
  }

  async batchUpdate(items: readonly BatchUpdateItem<string, E>[], options?: RowOptions): Promise<E[]> {
    checkBatch(
      items.map(({ key }) => key),
      'requests',
      { unique: true },
    )
    return this.#operations.write(
      'batchUpdate',
      options,
      async (scope) => {
        const patches = await patchesOf(this.model, items, this.#options, scope)
        return (on, run) => this.#updateMany(on, patches, scope, run)
      },
      true,
    )
  }

  async batchDelete(keys: readonly string[], options?: RowOptions): Promise<void> {
    checkBatch(keys, 'ids', { unique: true })
    return this.#operations.write(
      'batchDelete',
      options,
      async (scope) => {
        const patch = deletionOf(this.model, this.#options)
        return async (on, run) => {
          if (!keys.every(isStorable)) return notFound()
          if (keys.length > 0 && this.#rows.canBatch(scope.tenant)) {
            const deleted = await this.#rows.batchDelete(on, keys, scope, patch, run)
            if (deleted < keys.length) throw new ErrNotFound()
            return
          }
          for (const key of [...keys].sort(byCodePoint)) {
            const target = await this.#target(on, key, scope, run)
            if (!(await this.#rows.delete(on, target, patch, run))) throw new ErrNotFound()
          }
        }
      },
      true,
    )
  }

  async purgeExpired(before: Date, options?: OperationOptions): Promise<number> {
    scopeOf(this.model, options)
    if (this.model.expireTime === undefined) return 0
    for (let removed = 0; ;) {
      const chunk = await this.#operations.write(
        'purgeExpired',
        options,
        async (scope) => (on, run) =>
          this.#rows.purge(on, purgeThreshold(before), scope.tenant, PURGE_CHUNK, run),
      )
      removed += chunk
      if (chunk < PURGE_CHUNK) return removed
    }
  }

  async transaction<R>(
    fn: (context: RequestContext) => Promise<R>,
    options?: TransactionOptions,
  ): Promise<R> {
    scopeOf(this.model, options)
    return transaction(this.#database, fn, options)
  }

  checkWrites(): Promise<void> {
    return this.#database.checkWrites()
  }

  /** What `lookupBy<Field>Hash` calls. */
  protected lookup({ hash }: SecretField, value: string, options?: RowOptions): Promise<E> {
    return this.#operations.read('lookup', options, async (on, scope, run) => {
      if (!isStorable(value)) return notFound()
      const [first] = await this.#rows.find(on, hash, value, scope, run)
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
    const [row] = await this.#operations.read('reveal', options, async (on, _, run) => {
      const target = await this.#target(on, key, scope, run)
      return this.#rows.find(on, this.model.key, key, target, run)
    })
    if (row === undefined) throw new ErrNotFound()
    return reveal(row.columns[cipher.property], this.#options, scope.context.signal)
  }

  /** What `verify<Field>` calls: it searches all tenants, because the record is what says whose call it is. */
  protected async verify(
    credential: CredentialField,
    token: string,
    options?: OperationOptions,
  ): Promise<Verification<E>> {
    const context = options?.context ?? RequestContext.current()
    return this.#operations.perform('verify', options, { context, tenant: undefined }, async (on, _, run) => {
      const find = async (publicId: string) =>
        (await this.#rows.find(on, credential.publicId, publicId, { tenant: undefined }, run))[0]
      return checkCredential(this.model, credential, token, this.#options, find, context.signal)
    })
  }

  /** What `remint<Field>` calls. */
  protected remint(credential: CredentialField, key: string, options?: RowOptions): Promise<string> {
    return this.#mint(options, (minted) =>
      this.#operations.write('remint', options, async (scope) => {
        const { signal } = scope.context
        const { columns, tokens } = await mint(this.model, credential.property, this.#options, signal)
        minted(columns)
        const patch = { ...columns, ...serverSetValues(this.model, this.#options) }
        return async (on, run) => {
          await this.#updateOne(on, key, patch, scope, run)
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
      return (await on.run(this.#rows.statements.has(column), [publicId])).rows.length > 0
    })
  }

  async #updateOne(
    on: Executor,
    key: string,
    patch: Values,
    scope: Scope,
    run: RunOptions,
    ifMatch?: string,
  ): Promise<E> {
    const target = this.#targetIn(scope, key, ifMatch) ?? (await this.#searched(on, key, scope, run, ifMatch))
    const updated = canMatch(this.model, ifMatch)
      ? await this.#rows.update(on, target, patch, run)
      : undefined
    return updated ?? explainMiss(this.#rows, on, target, run)
  }

  /** In key order, so that two batches never wait for each other. */
  async #updateMany(on: Executor, patches: readonly Patched[], scope: Scope, run: RunOptions): Promise<E[]> {
    if (!patches.every(({ key }) => isStorable(key))) return notFound()
    if (isUnconditional(patches) && this.#rows.canBatch(scope.tenant))
      return updateInGroups(this.#rows, on, patches, scope, run)
    const updated: E[] = []
    for (const { key, patch, index, ifMatch } of inKeyOrder(patches))
      updated[index] = await this.#updateOne(on, key, patch, scope, run, ifMatch)
    return updated
  }

  /** Which row a key means. Only a system call over all tenants has to look. */
  async #target(on: Executor, key: string, scope: Scope, run: RunOptions, ifMatch?: string): Promise<Target> {
    return this.#targetIn(scope, key, ifMatch) ?? this.#searched(on, key, scope, run, ifMatch)
  }

  /** The row that the key means in the scope; undefined where it may be of several tenants. */
  #targetIn({ tenant, where }: Scope, key: string, ifMatch?: string): Target | undefined {
    if (!isStorable(key)) throw new ErrNotFound()
    return this.model.tenantInKey && tenant === undefined ? undefined : { key, tenant, ifMatch, where }
  }

  async #searched(
    on: Executor,
    key: string,
    { where }: Scope,
    run: RunOptions,
    ifMatch?: string,
  ): Promise<Target> {
    const [tenant, other] = await this.#rows.tenantsOf(on, key, run)
    if (other !== undefined) throw ambiguousKey(this.model)
    return { key, tenant: tenant ?? '', ifMatch, where }
  }
}
