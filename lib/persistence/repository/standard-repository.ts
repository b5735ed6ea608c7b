import { RequestContext } from '../../context.js'
import type { NewEntity } from '../../resource/new-entity-of.js'
import type { CredentialField, ResourceModel, SecretField } from '../../resource/resource-model.js'
import type { Patch } from '../../resource/values/increment.js'
import type { Verification } from '../contract/credential-check.js'
import { checkNewKey } from '../contract/new-entity.js'
import { watched } from '../contract/open-transaction.js'
import type { Operation, OperationOf, Results, Unrestricted } from './repository-operation.js'
import type { ReferringOptions } from '../contract/related-options.js'
import type {
  BatchDeleteOptions,
  BatchGetOptions,
  BatchUpdateItem,
  BatchUpdateOptions,
  CountOptions,
  DeleteManyOptions,
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
  UpdateManyOptions,
  UpdateOptions,
} from '../contract/repository.js'
import { recordOwn } from './repository-view.js'
import { scopeOf } from '../contract/scope.js'
import { checkMinter, type PrepareSecrets, prepareSecrets } from '../contract/secret-fields.js'
import { relatedQuestions } from '../deletion/rules/related-questions.js'
import { RepositoryFamily } from '../deletion/rules/repository-family.js'
import type { Filter } from '../query/filter-template.js'
import type { RowCall } from '../rows/row-call.js'
import { RowWriter } from '../rows/row-writer.js'
import { watchOverrides } from './overrides-in-transactions.js'
import { MANY } from './many-rows.js'
import { READS } from './read-operations.js'
import type { Performers, RepositoryCore, StandardOptions } from './performers.js'
import {
  type RewrapProgress,
  rewrapSecrets,
  type RewrapSecretsOptions,
  secretVersions,
} from './rewrap-secrets.js'
import type { RowsBackend } from './rows-backend.js'
import { WRITES } from './write-operations.js'

/**
 * The base of repositories in memory and in a database. Every public method creates an {@link Operation} that
 * `#run` performs, so that applications can override methods and call `super`.
 */
export abstract class StandardRepository<
  E extends object,
  C extends RowCall,
  X extends RequestContext,
  K = string,
> implements Repository<E, K> {
  readonly carriesDecisions = true
  readonly isForDevelopment: boolean
  readonly #core: RepositoryCore<E, C, X>

  protected constructor(
    readonly model: ResourceModel<E>,
    options: StandardOptions,
    backend: RowsBackend<E, C, X>,
  ) {
    checkMinter(model, options)
    checkNewKey(model, options)
    this.isForDevelopment = options.encryptor?.development === true
    const writer = new RowWriter(backend.rows, backend.resource)
    const { resource } = backend
    const memberOf = () => backend.memberOf()
    const family = new RepositoryFamily(resource.model, memberOf, backend.family, writer, options)
    const { holdsUnread } = backend.resource
    this.#core = {
      repository: this as never,
      model,
      options: { ...options, ...(holdsUnread && { holdsUnread }) },
      backend,
      writer,
      family,
    }
    watchOverrides(this, OWN, backend.database)
  }

  /** @internal */
  readonly prepareSecrets: PrepareSecrets = (...operands) =>
    prepareSecrets(this.model, this.#core.options, ...operands)

  /**
   * Returns the resources for which the functions of `related` can be called, so that a server knows the
   * required permissions.
   * @internal
   */
  readonly relatedQuestions = (options: { readonly force: boolean }) =>
    relatedQuestions(this.#core.family.member, options)

  get(key: K, options?: ReadOptions): Promise<E> {
    return this.#run({ kind: 'get', key, options })
  }

  list(list: ListOptions<E> & ReadTogether<string> = {}, options?: ListScope): Promise<Page<E>> {
    return this.#run({ kind: 'list', list, options })
  }

  count(list: ListFilter = {}, options?: CountOptions): Promise<number> {
    return this.#run({ kind: 'count', list, options })
  }

  async exists(list?: ListFilter, options?: FilterScope): Promise<boolean> {
    return (await this.count(list, { ...options, limit: 1 })) > 0
  }

  create(entity: NewEntity<E>, options?: OperationOptions & ReferringOptions): Promise<E> {
    return this.#run({ kind: 'create', entity, options })
  }

  update(key: K, patch: Patch<E>, mask?: readonly string[], options?: UpdateOptions): Promise<E> {
    return this.#run({ kind: 'update', key, patch, mask, options })
  }

  modify(key: K, change: (current: E) => Patch<E> | Promise<Patch<E>>, options?: ModifyOptions): Promise<E> {
    return this.#run({ kind: 'modify', key, change, options })
  }

  delete(key: K, options?: DeleteOptions): Promise<void> {
    return this.#run({ kind: 'delete', key, options })
  }

  undelete(key: K, options?: UndeleteOptions): Promise<E> {
    return this.#run({ kind: 'undelete', key, options })
  }

  batchGet(keys: readonly K[], options?: BatchGetOptions): Promise<E[]> {
    return this.#run({ kind: 'batchGet', keys, options })
  }

  batchUpdate(items: readonly BatchUpdateItem<K, E>[], options?: BatchUpdateOptions): Promise<E[]> {
    return this.#run({ kind: 'batchUpdate', items, options })
  }

  batchDelete(keys: readonly K[], options?: BatchDeleteOptions): Promise<void> {
    return this.#run({ kind: 'batchDelete', keys, options })
  }

  updateMany(filter: Filter, patch: Patch<E>, options?: UpdateManyOptions): Promise<number> {
    return this.#run({ kind: 'updateMany', filter, patch, options })
  }

  deleteMany(filter: Filter, options?: DeleteManyOptions): Promise<number> {
    return this.#run({ kind: 'deleteMany', filter, options })
  }

  purgeExpired(before: Date, options?: OperationOptions): Promise<number> {
    return this.#run({ kind: 'purgeExpired', before, options })
  }

  transaction<R>(fn: (context: X) => Promise<R>, options?: TransactionOptions): Promise<R> {
    return this.#watched('transaction', options?.context, this.#transaction(fn, options))
  }

  /**
   * Encrypts stored secrets with the newest key, including those of deleted rows. Affects the tenant's rows,
   * or the rows of all tenants in a system call. Etags do not change.
   */
  rewrapSecrets(options?: RewrapSecretsOptions): Promise<RewrapProgress> {
    const { model, options: own, backend } = this.#core
    return this.#watched('rewrapSecrets', options?.context, rewrapSecrets(model, own, backend, options))
  }

  /**
   * Returns the number of secrets per version of the encryption key, such as `{ 'vault:v2': 40 }`. Secrets
   * without a version are counted under `''`.
   */
  secretVersions(options?: OperationOptions): Promise<Readonly<Record<string, number>>> {
    const { model, backend } = this.#core
    return this.#watched('secretVersions', options?.context, secretVersions(model, backend, options))
  }

  /** Implements `lookupBy<Field>Hash`. @internal */
  protected lookup(secret: SecretField, hash: string, options?: ReadOptions): Promise<E> {
    return this.#run({ kind: 'lookup', secret, hash, options })
  }

  /** Implements `reveal<Field>`. @internal */
  protected reveal(secret: SecretField, key: K, options?: RowOptions): Promise<string | undefined> {
    return this.#run({ kind: 'reveal', secret, key, options })
  }

  /** Implements `verify<Field>`. @internal */
  protected verify(
    credential: CredentialField,
    token: string,
    options?: OperationOptions,
  ): Promise<Verification<E>> {
    return this.#run({ kind: 'verify', credential, token, options })
  }

  /** Implements `remint<Field>`. @internal */
  protected remint(credential: CredentialField, key: string, options?: RowOptions): Promise<string> {
    return this.#run({ kind: 'remint', credential, key, options })
  }

  /** Performs an operation as the authorizer decided, or on all rows of the tenant if it did not decide. */
  #run<Kind extends Operation['kind']>(operation: OperationOf<Kind, E>): Promise<Results<E>[Kind]> {
    const { kind, options } = operation
    const given = options?.context
    const current = RequestContext.current()
    const { access } = given ?? current
    const decided = access?.carryOut(this, operation, this.#unrestricted())
    const call =
      (decided as Promise<Results<E>[Kind]> | undefined) ??
      (PERFORMERS[kind] as Performers<Kind>[Kind])(this.#core, operation)
    const isOutside = current.transaction === undefined && given?.transaction === undefined
    return isOutside ? call : this.#watched(kind, given, call)
  }

  #unrestricted(): Unrestricted {
    return {
      model: this.model as ResourceModel,
      perform: (operation) =>
        (PERFORMERS[operation.kind] as Performers<'get'>['get'])(this.#core, operation as never) as never,
      transaction: (fn, options) => this.#transaction(fn, options),
    }
  }

  /** Registers an operation's promise with the surrounding transaction, which then waits for it. */
  #watched<T>(name: string, given: RequestContext | undefined, call: Promise<T>): Promise<T> {
    return watched(this.#core.backend.database, given, `${this.model.entity.name}.${name}`, call)
  }

  async #transaction<R>(fn: (context: X) => Promise<R>, options?: TransactionOptions): Promise<R> {
    scopeOf(this.model, options)
    return this.#core.backend.transaction(fn, options)
  }
}

const PERFORMERS = { ...READS, ...WRITES, ...MANY }

const OWN = recordOwn(StandardRepository.prototype)
