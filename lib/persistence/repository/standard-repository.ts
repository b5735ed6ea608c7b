import { RequestContext } from '../../context.js'
import type { NewEntity } from '../../resource/new-entity-of.js'
import type { CredentialField, ResourceModel, SecretField } from '../../resource/resource-model.js'
import type { Patch } from '../../resource/values/increment.js'
import { checkBatch, textOf } from '../contract/batch.js'
import { checkCredential, type Verification, withFreshMint } from '../contract/credential-check.js'
import type { PagingOptions } from '../contract/list-plan.js'
import {
  checkNewKey,
  hasOwnKey,
  keyMade,
  newEntity,
  type Sources,
  type Values,
} from '../contract/new-entity.js'
import { deletionOf, patchesOf, patchOf, restorationOf, serverSetValues } from '../contract/patch.js'
import type { ReferringOptions } from '../contract/related-options.js'
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
  BatchUpdateOptions,
  RowOptions,
  TransactionOptions,
  UndeleteOptions,
  UpdateOptions,
} from '../contract/repository.js'
import { byKey, joinOptions, scopeOf } from '../contract/scope.js'
import { checkMinter, mint, prepareSecrets, protectNew, reveal } from '../contract/secret-fields.js'
import type { PrepareSecrets, SecretOptions } from '../contract/secret-fields.js'
import { completed } from './completed.js'
import { modify } from './modify.js'
import { watchOperations, watchOverrides } from './watched-operations.js'
import { relatedQuestions } from '../deletion/rules/related-questions.js'
import { RepositoryFamily } from '../deletion/rules/repository-family.js'
import { isStorable } from '../query/reachable.js'
import { planCount, planPage } from '../relations/plan-page.js'
import { notFound } from '../rows/misses.js'
import type { RowCall } from '../rows/row-call.js'
import { targetOf } from '../rows/row-target.js'
import { RowWriter } from '../rows/row-writer.js'
import type { ReadOperation } from './operations.js'
import { purgeExpired } from './purge-expired.js'
import { rewrapSecrets, secretVersions } from './rewrap-secrets.js'
import type { RewrapProgress, RewrapSecretsOptions } from './rewrap-secrets.js'
import type { RowsBackend } from './rows-backend.js'

/** Options of every repository. */
export interface StandardOptions extends Sources, PagingOptions, SecretOptions {}

/**
 * The operations of a repository: each finds out its scope, checks what it is given, reads or writes rows.
 */
export abstract class StandardRepository<
  E extends object,
  C extends RowCall,
  X extends RequestContext,
  K = string,
> implements Repository<E, K> {
  static {
    watchOperations(
      this.prototype as StandardRepository<object, RowCall, RequestContext>,
      (repository) => repository.#backend.database,
    )
  }

  readonly appliesWhere = true
  readonly isForDevelopment: boolean
  readonly #options: StandardOptions
  readonly #backend: RowsBackend<E, C, X>
  readonly #writer: RowWriter<E, C>
  readonly #family: RepositoryFamily<E, C>

  protected constructor(
    readonly model: ResourceModel<E>,
    options: StandardOptions,
    backend: RowsBackend<E, C, X>,
  ) {
    watchOverrides(this)
    checkMinter(model, options)
    checkNewKey(model, options)
    this.isForDevelopment = options.encryptor?.development === true
    this.#options = options
    this.#backend = backend
    this.#writer = new RowWriter(backend.rows, backend.resource)
    const memberOf = () => backend.memberOf()
    const { resource, family } = backend
    this.#family = new RepositoryFamily(resource.model, memberOf, family, this.#writer, options)
  }

  readonly prepareSecrets: PrepareSecrets = (...operands) =>
    prepareSecrets(this.model, this.#options, ...operands)

  /** About which resources `related` can be asked, so that a server knows which permissions there are. */
  readonly relatedQuestions = (options: { readonly force: boolean }) =>
    relatedQuestions(this.#family.member, options)

  /** The static block above wraps it, as all operations: a transaction around it learns of its promise. */
  get(key: K, options?: ReadOptions): Promise<E> {
    return this.#backend.operations.read('get', options, async (operation) => {
      const { call, scope, lock } = operation
      const row = this.#writer.known({ key, scope }) ?? (await this.#writer.search(call, { key, scope }))
      const entity = (await this.#backend.rows.get(call, row, { lock })) ?? notFound()
      return completed(this.#backend, 'get', operation, entity, options?.with, options)
    })
  }

  list(list: ListOptions<E> & ReadTogether<string> = {}, options?: ListScope): Promise<Page<E>> {
    const { operations, relations } = this.#backend
    const paths = list.with
    const read = async (operation: ReadOperation<C>): Promise<Page<E>> => {
      const { scope, lock } = operation
      const isAlone = paths === undefined || lock !== undefined
      const { call, kept } = isAlone
        ? { ...operation, kept: undefined }
        : relations.pageOn(operation.call, paths, scope)
      const plan = planPage(this.model, list, scope, this.#options, options)
      const how = { lock, kept, maxBytes: options?.maxBytes }
      const page = await this.#backend.list(call, plan, scope.tenant, how)
      return completed(this.#backend, 'list', { call, scope, lock }, page, paths, options)
    }
    return operations.read('list', options, read, { mayLeaveOut: true })
  }

  count(list: ListFilter = {}, options: CountOptions = {}): Promise<number> {
    return this.#backend.operations.read('count', options, async ({ call, scope }) => {
      const plan = planCount(this.model, list, scope, options)
      return this.#backend.count(call, plan, scope.tenant)
    })
  }

  async exists(list?: ListFilter, options?: FilterScope): Promise<boolean> {
    return (await this.count(list, joinOptions(options, { limit: 1 }))) > 0
  }

  create(input: NewEntity<E>, options?: OperationOptions & ReferringOptions): Promise<E> {
    const { operations, rows } = this.#backend
    return this.#minting(options, (minted) =>
      operations.write('create', options, async (operation) => {
        const { scope } = operation
        const hooksSetKey = this.#backend.hooks.hears('BeforeInsert')
        const { rangeOf } = this.#backend.resource
        const entity = newEntity(this.model, input, scope, this.#options, rangeOf, hooksSetKey)
        const secrets = await protectNew(this.model, input as Values, this.#options, scope.context)
        minted(secrets.columns)
        const values = { ...(entity as Values), ...secrets.columns }
        await operation.refers(values)
        const isKeyMade = !hasOwnKey(this.model, input, this.#options)
        const late = hooksSetKey && isKeyMade && { newKey: () => keyMade(this.model.key, this.#options) }
        const write = { row: targetOf(this.model, values), values, isKeyMade, ...late }
        const isAtomic = !rows.insertsAtOnce
        const created = await operation.send((call) => rows.insert(call, write), { isAtomic })
        return Object.assign(created, secrets.tokens)
      }),
    )
  }

  update(key: K, entity: Patch<E>, fieldMask?: readonly string[], options?: UpdateOptions): Promise<E> {
    return this.#backend.operations.write('update', options, async (operation) => {
      const { scope } = operation
      const patch = await patchOf(this.model, entity, fieldMask, options, this.#options, scope)
      await operation.refers(patch)
      const row = { key, scope, ifMatch: options?.ifMatch }
      return operation.send((call) => this.#writer.update(call, row, patch))
    })
  }

  async modify(
    key: K,
    change: (current: E) => Patch<E> | Promise<Patch<E>>,
    options?: ModifyOptions,
  ): Promise<E> {
    return modify(this, this.#backend.database, key, change, options)
  }

  async delete(key: K, options?: DeleteOptions): Promise<void> {
    const together = this.#family.deletes
    return this.#backend.operations.write('delete', options, async (operation) => {
      const row = { key, scope: operation.scope, ifMatch: options?.ifMatch }
      const values = deletionOf(this.model, this.#options)
      const writer = together ?? this.#writer
      return operation.send((call) => writer.delete(call, row, values, options), { together })
    })
  }

  async undelete(key: K, options?: UndeleteOptions): Promise<E> {
    const together = this.#family.undeletes
    return this.#backend.operations.write('undelete', options, async (operation) => {
      if (this.model.deleteTime === undefined) return notFound()
      const row = { key, scope: operation.scope, ifMatch: options?.ifMatch }
      const values = restorationOf(this.model, this.#options)
      const writer = together ?? this.#writer
      return operation.send((call) => writer.undelete(call, row, values, options), { together })
    })
  }

  async batchGet(keys: readonly K[], options?: BatchGetOptions): Promise<E[]> {
    const texts = keys.map((key) => textOf(this.model.keys, key))
    checkBatch(texts, 'ids', { unique: false })
    return this.#backend.operations.read('batchGet', options, async (operation) => {
      const { call, scope, lock } = operation
      const known = [...new Set(texts.filter(this.model.keys.isKey))]
      const how = { lock, maxBytes: options?.maxBytes }
      const rows = await this.#backend.rows.batchGet(call, known, scope, how)
      const found = byKey(this.model, rows)
      const isWhole = options?.allowMissing !== true
      const entities = isWhole ? texts.map((key) => (found.get(key) ?? notFound()) as E) : rows
      return completed(this.#backend, 'batchGet', operation, entities, options?.with, options)
    })
  }

  async batchUpdate(items: readonly BatchUpdateItem<K, E>[], options?: BatchUpdateOptions): Promise<E[]> {
    const texts = items.map(({ key }) => textOf(this.model.keys, key))
    checkBatch(texts, 'requests', { unique: true })
    return this.#backend.operations.write('batchUpdate', options, async (operation) => {
      const { scope } = operation
      const keyed = items.map((item, at) => ({ ...item, key: texts[at] ?? '' }))
      const patches = await patchesOf(this.model, keyed, options, this.#options, scope)
      await operation.refers(...patches.map(({ patch }) => patch))
      return operation.send((call) => this.#writer.updateMany(call, patches, scope), { isAtomic: true })
    })
  }

  async batchDelete(keys: readonly K[], options?: BatchDeleteOptions): Promise<void> {
    const texts = keys.map((key) => textOf(this.model.keys, key))
    checkBatch(texts, 'ids', { unique: true })
    const together = this.#family.deletes
    return this.#backend.operations.write('batchDelete', options, async (operation) => {
      const values = deletionOf(this.model, this.#options)
      const writer = together ?? this.#writer
      const remove = (call: C) => writer.deleteMany(call, texts, operation.scope, values, options)
      return operation.send(remove, { isAtomic: true, together })
    })
  }

  async purgeExpired(before: Date, options?: OperationOptions): Promise<number> {
    scopeOf(this.model, options)
    if (this.model.expireTime === undefined) return 0
    const { operations, purge } = this.#backend
    return purgeExpired(operations, purge, this.#family, before, options)
  }

  async transaction<R>(fn: (context: X) => Promise<R>, options?: TransactionOptions): Promise<R> {
    scopeOf(this.model, options)
    return this.#backend.transaction(fn, options)
  }

  /**
   * Encrypts stored secrets with the newest key, deleted rows too: of the tenant, or of all by the system. No
   * etag changes.
   */
  rewrapSecrets(options?: RewrapSecretsOptions): Promise<RewrapProgress> {
    return rewrapSecrets(this.model, this.#options, this.#backend, options)
  }

  /**
   * How many secrets are encrypted with which version of the key, such as `{ 'vault:v2': 40 }`; `''` where
   * none is named.
   */
  secretVersions(options?: OperationOptions): Promise<Readonly<Record<string, number>>> {
    return secretVersions(this.model, this.#backend, options)
  }

  /** What `lookupBy<Field>Hash` calls. */
  protected lookup({ hash }: SecretField, value: string, options?: ReadOptions): Promise<E> {
    return this.#backend.operations.read('lookup', options, async (operation) => {
      if (!isStorable(value)) return notFound()
      const [first] = await this.#backend.finds.find(operation.call, hash, value, operation.scope)
      return completed(
        this.#backend,
        'lookup',
        operation,
        first?.entity ?? notFound(),
        options?.with,
        options,
      )
    })
  }

  /** What `reveal<Field>` calls. */
  protected async reveal({ cipher }: SecretField, key: K, options?: RowOptions): Promise<string | undefined> {
    const { operations, finds } = this.#backend
    const { stored, context } = await operations.read('reveal', options, async ({ call, scope }) => {
      const row = await this.#writer.target(call, { key, scope })
      const [found] = await finds.find(call, this.model.key, row.key, row)
      return { stored: (found ?? notFound()).columns[cipher.property], context: scope.context }
    })
    return reveal(stored, this.#options, context)
  }

  /**
   * What `verify<Field>` calls: it searches all tenants, because the record is what says whose call it is.
   */
  protected async verify(
    credential: CredentialField,
    token: string,
    options?: OperationOptions,
  ): Promise<Verification<E>> {
    const scope = { context: options?.context ?? RequestContext.current(), tenant: undefined }
    const check = ({ call }: ReadOperation<C>) => {
      const find = (id: string) => this.#backend.finds.find(call, credential.publicId, id, scope)
      const specs = this.#backend.specsOf(call, credential)
      return checkCredential(this.model, credential, token, this.#options, find, specs, scope.context)
    }
    return this.#backend.operations.read('verify', options, check, { scope })
  }

  /** What `remint<Field>` calls. */
  protected remint(credential: CredentialField, key: string, options?: RowOptions): Promise<string> {
    return this.#minting(options, (minted) =>
      this.#backend.operations.write('remint', options, async (operation) => {
        const { context } = operation.scope
        const { columns, tokens } = await mint(this.model, credential.property, this.#options, context)
        minted(columns)
        const patch = { ...columns, ...serverSetValues(this.model, this.#options) }
        await operation.send((call) => this.#writer.update(call, { key, scope: operation.scope }, patch))
        return tokens[credential.property] as string
      }),
    )
  }

  #minting<T>(
    options: OperationOptions | undefined,
    attempt: (minted: (columns: Values) => void) => Promise<T>,
  ): Promise<T> {
    return withFreshMint(this.model, attempt, (field, publicId) =>
      this.#backend.isTaken(field, publicId, options?.context),
    )
  }
}
