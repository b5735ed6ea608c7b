import type { DataSource, EntityManager } from 'typeorm'
import type { IsCredential } from '../../decorators/credential.js'
import type { IsSecret } from '../../decorators/secret.js'
import type { RequestContext } from '../context.js'
import {
  resourceModel,
  type CredentialField,
  type EntityClass,
  type SecretField,
} from '../resource/resource-model.js'
import type { Verification } from './contract/credential-check.js'
import type { PartValue } from '../resource/keys/key-part.js'
import type { Patch } from '../resource/values/increment.js'
import type { Loaded, RelationPath } from '../resource/relations/loaded.js'
import type { MaskOf } from '../resource/mask-of.js'
import type { MemoryCall } from './memory/memory-database.js'
import { MemoryRepository, type MemoryOptions } from './memory/memory-repository.js'
import type {
  BatchGetOptions,
  BatchUpdateItem,
  ListOptions,
  ListScope,
  LookupOptions,
  OperationOptions,
  Page,
  ReadOptions,
  ReadTogether,
  BatchUpdateOptions,
  RowOptions,
  UpdateOptions,
  WriteOptions,
} from './contract/repository.js'
import type { StandardRepository } from './repository/standard-repository.js'
import type { RowCall, SqlCall } from './rows/row-call.js'
import type { TransactionContext } from './sql/transaction-context.js'
import { TypeormRepository, type RepositoryOptions } from './sql/typeorm-repository.js'

type SecretNames<E> = {
  [K in keyof E]-?: IsSecret<NonNullable<E[K]>> extends true ? K & string : never
}[keyof E]
type CredentialNames<E> = {
  [K in keyof E]-?: IsCredential<NonNullable<E[K]>> extends true ? K & string : never
}[keyof E]

/** The type of an entity's key: the type of its property `id` or `name`, or string if it has neither. */
export type KeyOf<E> = E extends { readonly id: infer K extends PartValue }
  ? K
  : E extends { readonly name: infer K extends PartValue }
    ? K
    : string

interface LookupByHash<E> {
  <const P extends RelationPath<E> = never>(hash: string, options?: LookupOptions<P>): Promise<Loaded<E, P>>
  (hash: string, options?: LookupOptions): Promise<E>
}

/** The methods `lookupBy<Field>Hash` and `reveal<Field>` for every property of type `Secret`. */
export type SecretLookups<E> = {
  /**
   * Returns the live entity with this hash. Plaintext is never compared.
   *
   * @throws ErrNotFound if no live entity of this tenant has the hash.
   */
  readonly [K in SecretNames<E> as `lookupBy${Capitalize<K>}Hash`]: LookupByHash<E>
} & {
  /**
   * Returns the plaintext, or undefined if no secret is set.
   *
   * @throws ErrNotFound, ErrNoEncryptor
   */
  readonly [K in SecretNames<E> as `reveal${Capitalize<K>}`]: (
    key: KeyOf<E>,
    options?: RowOptions,
  ) => Promise<string | undefined>
}

/** The methods `verify<Field>` and `remint<Field>` for every property of type `Credential`. */
export type CredentialOps<E> = {
  /** Searches all tenants. The result is the same for unknown, malformed, wrong and expired tokens. */
  readonly [K in CredentialNames<E> as `verify${Capitalize<K>}`]: (
    token: string,
    options?: OperationOptions,
  ) => Promise<Verification<E>>
} & {
  /**
   * Replaces the credential and returns the new token, which cannot be read again.
   *
   * @throws ErrNotFound if no live entity of this tenant has the key.
   */
  readonly [K in CredentialNames<E> as `remint${Capitalize<K>}`]: (
    key: KeyOf<E>,
    options?: RowOptions,
  ) => Promise<string>
}

/**
 * An item of a batch update: a whole entity, or a part of one with a mask. Other combinations do not compile.
 */
export type BatchUpdateItemOf<E> = TouchingItem<E> | WholeItem<E> | MaskedItem<E>

type ItemOf<E> = Pick<BatchUpdateItem<KeyOf<E>, object>, 'key' | 'ifMatch'>

// A named type makes the compiler's message about a wrong mask mention the mask.
interface TouchingItem<E> extends ItemOf<E> {
  readonly entity: Patch<E>
  readonly fieldMask: readonly string[]
  readonly touchOnly: true
}

interface WholeItem<E> extends ItemOf<E> {
  readonly entity: E
  readonly fieldMask: readonly [] | readonly ['*']
  readonly touchOnly?: false
}

interface MaskedItem<E> extends ItemOf<E> {
  readonly entity: Patch<E>
  readonly fieldMask: readonly [MaskOf<E>, ...MaskOf<E>[]]
  readonly touchOnly?: false
}

/**
 * A repository whose writes are type-checked against the entity. Operations are methods, so that a subclass
 * can override them.
 */
interface TypedRepository<
  E extends object,
  C extends RowCall,
  X extends RequestContext,
> extends StandardRepository<E, C, X, KeyOf<E>> {
  /**
   * Returns the live entity with this key, and the relations that `with` names.
   *
   * @throws ErrNotFound
   */
  get<const P extends RelationPath<E> = never>(key: KeyOf<E>, options?: ReadOptions<P>): Promise<Loaded<E, P>>
  /**
   * Returns the live entity with this key.
   *
   * @throws ErrNotFound
   */
  get(key: KeyOf<E>, options?: ReadOptions): Promise<E>
  /** Returns a page of the live entities, and the relations that `with` names. */
  list<const P extends RelationPath<E> = never>(
    list?: ListOptions<E> & ReadTogether<P>,
    options?: ListScope,
  ): Promise<Page<Loaded<E, P>>>
  /** Returns a page of the live entities in a stable order. */
  list(list?: ListOptions<E>, options?: ListScope): Promise<Page<E>>
  /** Returns the entities with these keys, in order, and the relations that `with` names. */
  batchGet<const P extends RelationPath<E> = never>(
    keys: readonly KeyOf<E>[],
    options?: BatchGetOptions<P>,
  ): Promise<Loaded<E, P>[]>
  /**
   * Returns the entities with these keys, in order.
   *
   * @throws ErrNotFound if a key has no live row, unless `allowMissing` is set.
   */
  batchGet(keys: readonly KeyOf<E>[], options?: BatchGetOptions): Promise<E[]>
  /** Updates a whole entity, or a part of one with a mask. A part without a mask does not compile. */
  update(
    key: KeyOf<E>,
    entity: E,
    fieldMask?: readonly [] | readonly ['*'],
    options?: WriteOptions,
  ): Promise<E>
  /**
   * Writes the fields in the mask and returns the whole entity.
   *
   * @throws ErrNotFound
   * @throws ErrPreconditionFailed if the etag differs
   */
  update(
    key: KeyOf<E>,
    patch: Patch<E>,
    fieldMask: readonly string[],
    options: UpdateOptions & { readonly touchOnly: true },
  ): Promise<E>
  /**
   * Writes the fields in the mask and returns the whole entity.
   *
   * @throws ErrNotFound
   * @throws ErrPreconditionFailed if the etag differs
   */
  update(
    key: KeyOf<E>,
    patch: Patch<E>,
    fieldMask: readonly [MaskOf<E>, ...MaskOf<E>[]],
    options?: WriteOptions,
  ): Promise<E>
  /** Updates entities in one transaction, all or none. Returns them in the order of the items. */
  batchUpdate(items: readonly BatchUpdateItemOf<E>[], options?: BatchUpdateOptions): Promise<E[]>
}

type OfDatabase<E extends object> = Pick<TypeormRepository<E>, 'checkWrites' | 'startUpCheck' | 'table'>

/** A typed repository on a DataSource. */
export interface TypedTypeormRepository<E extends object>
  extends TypedRepository<E, SqlCall, TransactionContext>, OfDatabase<E> {
  /** See `withManager` of {@link TypeormRepository}. */
  withManager(manager: EntityManager): this
}

/** A typed repository in memory. */
export interface TypedMemoryRepository<E extends object> extends TypedRepository<
  E,
  MemoryCall,
  RequestContext
> {}

/**
 * The repository of an entity on a DataSource, with the methods of its secrets and credentials.
 *
 * @example
 * ```ts
 * import type { RepositoryOf } from 'ashlar/persistence'
 * import type { Widget } from './widget.js'
 *
 * export const labelOf = async (widgets: RepositoryOf<Widget>, id: string) => {
 *   const { displayName } = await widgets.get(id)
 *   return displayName
 * }
 * ```
 */
export type RepositoryOf<E extends object> = TypedTypeormRepository<E> & SecretLookups<E> & CredentialOps<E>

/** The repository of an entity in memory, with the methods of its secrets and credentials. */
export type MemoryRepositoryOf<E extends object> = TypedMemoryRepository<E> &
  SecretLookups<E> &
  CredentialOps<E>

/**
 * Returns a base class for the repository of an entity: `class WidgetRepository extends repositoryOf(Widget)
 * {}`. It has the operations of every repository and the methods of the entity's secrets and credentials. All
 * of them can be overridden. Calls inside a transaction join it, including calls in overrides.
 *
 * @example
 * ```ts
 * import { filter, repositoryOf } from 'ashlar'
 * import type { OperationOptions } from 'ashlar/persistence'
 * import { Widget } from './widget.js'
 *
 * class WidgetRepository extends repositoryOf(Widget) {
 *   override async create(widget: Partial<Widget>, options?: OperationOptions): Promise<Widget> {
 *     return super.create({ ...widget, displayName: widget.displayName?.trim() ?? '' }, options)
 *   }
 *
 *   heavierThan(size: number) {
 *     return this.list({ filter: filter`size > ${Math.trunc(size)}`, orderBy: [{ size: 'desc' }] })
 *   }
 * }
 * ```
 */
export function repositoryOf<E extends object>(
  entity: EntityClass<E>,
): new (dataSource: DataSource, options?: RepositoryOptions) => RepositoryOf<E> {
  class EntityRepository extends TypeormRepository<E, KeyOf<E>> {
    constructor(dataSource: DataSource, options?: RepositoryOptions) {
      super(dataSource, entity, options)
    }
  }
  addSecretOperations(EntityRepository.prototype, entity)
  // TypeScript does not know the added methods.
  return EntityRepository as never
}

/**
 * Returns the repository of an entity that needs no repository class of its own.
 *
 * @example
 * ```ts
 * import { repositoryFor } from 'ashlar'
 * import type { DataSource } from 'typeorm'
 * import { Widget } from './widget.js'
 *
 * export const widgetsOf = (dataSource: DataSource) => repositoryFor(Widget, dataSource)
 * ```
 */
export const repositoryFor = <E extends object>(
  entity: EntityClass<E>,
  dataSource: DataSource,
  options?: RepositoryOptions,
): RepositoryOf<E> => new (repositoryOf(entity))(dataSource, options)

/**
 * Returns a base class for the memory repository of an entity.
 *
 * @example
 * ```ts
 * import { memoryRepositoryOf } from 'ashlar'
 * import { Widget } from './widget.js'
 *
 * const widgets = new (memoryRepositoryOf(Widget))()
 * ```
 */
export function memoryRepositoryOf<E extends object>(
  entity: EntityClass<E>,
): new (options?: MemoryOptions) => MemoryRepositoryOf<E> {
  class EntityRepository extends MemoryRepository<E, KeyOf<E>> {
    constructor(options?: MemoryOptions) {
      super(entity, options)
    }
  }
  addSecretOperations(EntityRepository.prototype, entity)
  // TypeScript does not know the added methods.
  return EntityRepository as never
}

interface Operations {
  lookup(secret: SecretField, hash: string, options?: OperationOptions): unknown
  reveal(secret: SecretField, key: string, options?: OperationOptions): unknown
  verify(credential: CredentialField, token: string, options?: OperationOptions): unknown
  remint(credential: CredentialField, key: string, options?: OperationOptions): unknown
}

function addSecretOperations<E extends object>(prototype: object, entity: EntityClass<E>): void {
  const { secrets, credentials } = resourceModel(entity)
  const add = (
    name: string,
    operation: (this: Operations, operand: string, options?: OperationOptions) => unknown,
  ) => Object.defineProperty(prototype, name, { value: operation, configurable: true, writable: true })
  for (const secret of secrets) {
    const name = capitalized(secret.property)
    add(`lookupBy${name}Hash`, function (hash, options) {
      return this.lookup(secret, hash, options)
    })
    add(`reveal${name}`, function (key, options) {
      return this.reveal(secret, key, options)
    })
  }
  for (const credential of credentials) {
    const name = capitalized(credential.property)
    add(`verify${name}`, function (token, options) {
      return this.verify(credential, token, options)
    })
    add(`remint${name}`, function (key, options) {
      return this.remint(credential, key, options)
    })
  }
}

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
