import type { Problem } from '../../errors.js'
import type { RequestContext } from '../../context.js'
import type { Loaded, RelationPath } from '../../resource/relations/loaded.js'
import type { NewEntity } from '../../resource/new-entity-of.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Filter } from '../query/filter-template.js'
import type { OrderBy } from '../query/order-by.js'
import type { Patch } from '../../resource/values/increment.js'
import type { ReferringOptions, RelatedOptions, RelatedQuestions, Through } from './related-options.js'
import type { RowLock } from './row-lock.js'
import type { PrepareSecrets } from './secret-fields.js'

export type { RelatedAccess, RelatedOptions, RowLimits, Through } from './related-options.js'

/** Selects the entities of a list or a count. All fields are optional. */
export interface ListFilter {
  /** An AIP-160 expression; an empty string means no filter. In code, build it with the tag `filter`. */
  readonly filter?: string
  /** Includes soft-deleted entities (AIP-148). */
  readonly showDeleted?: boolean
  /** Free text for searchable resources; an empty string means no search. */
  readonly search?: string
}

/** Options for reading relations together with entities. */
export interface ReadTogether<With extends string = never> {
  /**
   * The relations to read into the properties of the result, such as `['project', 'lines']`, or
   * `['project.owner']` for a relation of a relation. A related resource is included only if it is live and
   * belongs to the entity's tenant. `where` does not apply to related resources, and their rows are not
   * locked.
   */
  readonly with?: readonly With[]
}

/** The parameters of a list of resources `T`. All are optional. */
export interface ListOptions<in T extends object = object> extends ListFilter {
  /**
   * An AIP-132 string, `field [asc|desc]`, comma-separated, or a list of terms that the compiler checks: `[{
   * size: 'desc' }, 'title']`. Names are proto field names, as in masks. The key is always the last term.
   */
  readonly orderBy?: string | readonly OrderBy<T>[]
  /**
   * The maximum number of entities on a page. Default: 50, which also replaces zero and negative values. The
   * limit is 1000.
   */
  readonly pageSize?: number
  /** The `nextPageToken` of the previous page, an opaque string. */
  readonly pageToken?: string
}

/** A page of a list. */
export interface Page<T> {
  readonly items: T[]
  /** Empty on the last page. */
  readonly nextPageToken: string
}

/** An item of an atomic batch update. */
export interface BatchUpdateItem<K, T> {
  readonly key: K
  readonly entity: Patch<T>
  /** Proto field names. An empty mask means a full update. */
  readonly fieldMask: readonly string[]
  /** See {@link UpdateOptions}. */
  readonly touchOnly?: boolean
  /** See {@link WriteOptions}. If one item does not match, the whole batch fails. */
  readonly ifMatch?: string
}

/** Options of every operation. */
export interface OperationOptions {
  /** The context of the call. Default: the current one. */
  readonly context?: RequestContext
}

/** Narrows the rows that an operation reaches within its tenant. */
export interface RowOptions extends OperationOptions {
  /**
   * The operation reaches only rows that match this filter, which its own statement checks. Any other row
   * counts as missing. The filter may name the same fields as `under`, but unlike `under` it does not become
   * part of a page token.
   */
  readonly where?: Filter
}

/**
 * Options of reads inside a transaction that changes the rows afterwards. SQLite and memory need no lock,
 * because they run one writing transaction at a time.
 */
export interface ReadOptions<With extends string = never> extends RowOptions, ReadTogether<With> {
  /**
   * Locks the rows until the transaction ends: `update` against all other locks and writes, `share` against
   * writes. Rejects with a TypeError outside a transaction or inside a read-only one.
   */
  readonly lock?: RowLock
  /**
   * The behavior if another transaction has locked a row: `block`, the default, waits; `nowait` rejects with
   * Aborted.
   */
  readonly wait?: 'block' | 'nowait'
}

export interface BatchGetOptions<With extends string = never> extends ReadOptions<With> {
  /** Returns the existing entities, each once. Without it, a missing entity fails with ErrNotFound. */
  readonly allowMissing?: boolean
  /**
   * Fails with ResourceExhausted if the rows exceed this number of bytes, without reading the rest. Default:
   * no limit.
   */
  readonly maxBytes?: number
}

/** Options of `lookupBy<Field>Hash`. */
export interface LookupOptions<With extends string = never> extends RowOptions, ReadTogether<With> {}

export interface FilterScope extends RowOptions {
  /**
   * Narrows the list by a condition of the application, such as a parent or an owner, in addition to the
   * caller's filter: `` filter`parent = ${parent}` ``. It may name every field of the entity except secrets,
   * including fields that callers cannot filter by. A page token is valid only with the same `under`.
   */
  readonly under?: Filter
  /**
   * The relations that the caller's filter and sort order may use, such as `['project', 'steps']`:
   * `project.title = "a"`. By default they can only name fields of the entity itself.
   */
  readonly through?: readonly Through[]
}

export interface ListScope extends FilterScope {
  /**
   * See {@link ReadOptions}. With a lock, a full page always has a next page token, even the last page,
   * because reading ahead would lock another row. Order by fields that do not change while the list waits for
   * locks.
   */
  readonly lock?: RowLock
  /** See {@link ReadOptions}. In addition, `skip` omits rows that another transaction has locked. */
  readonly wait?: 'block' | 'nowait' | 'skip'
  /**
   * Ends the page before its entities exceed this number of bytes. Strings, bytes and JSON are counted as
   * stored in the database. A page has at least one entity, even a larger one. Default: no limit.
   */
  readonly maxBytes?: number
}

export interface CountOptions extends FilterScope {
  /**
   * Stops counting at this number and returns it, which limits the work on a large table. Default: no limit.
   */
  readonly limit?: number
}

export interface WriteOptions extends RowOptions {
  /** The etag that the entity must have (RFC 9110 If-Match, AIP-154). An empty etag matches no entity. */
  readonly ifMatch?: string
  /** Allows output-only fields in the mask. For server code only, never for a client's mask. */
  readonly outputOnly?: boolean
}

export interface BatchUpdateOptions extends RowOptions, ReferringOptions {
  /** Applies to the masks of all items; see {@link WriteOptions}. */
  readonly outputOnly?: boolean
  /**
   * Fails with ResourceExhausted if the updated rows exceed this number of bytes, without reading the rest.
   * Default: no limit.
   */
  readonly maxBytes?: number
}

export interface BatchDeleteOptions extends RowOptions, RelatedOptions {
  /**
   * Limits the bytes of rows that are read for events or row-level authorization. If they exceed it, the
   * delete fails with ResourceExhausted. Default: no limit.
   */
  readonly maxBytes?: number
  /**
   * Also deletes resources that refer to an entity if the relation restricts deletion (AIP-135). Default:
   * false. A resource that can be undeleted is never deleted together with one that cannot. An explicit
   * `false` means that the caller could have set it. The error of a rejected delete then mentions the option.
   */
  readonly force?: boolean
}

export interface UpdateManyOptions extends RowOptions, ReferringOptions, Limited {
  /** See {@link WriteOptions}. */
  readonly outputOnly?: boolean
}

export interface DeleteManyOptions extends RowOptions, RelatedOptions, Limited {
  /** See {@link BatchDeleteOptions}. */
  readonly force?: boolean
}

interface Limited {
  /** The maximum number of entities that may be written. Default: 1,000. */
  readonly limit?: number
}

export interface DeleteOptions extends WriteOptions, BatchDeleteOptions {}

export interface UndeleteOptions extends WriteOptions, RelatedOptions, ReferringOptions {}

export interface ModifyOptions extends WriteOptions, ReferringOptions {
  /**
   * The maximum number of attempts, including the first, if a deadlock or a serialization failure occurs.
   * Default: 4. Throws a TypeError inside another transaction, because that whole transaction would have to
   * run again.
   */
  readonly maxAttempts?: number
}

export interface UpdateOptions extends WriteOptions, ReferringOptions {
  /**
   * Writes only `etag` and `update_time`, regardless of the mask. Default: false. Set it if every name in the
   * mask is to be ignored, and pass the mask unchanged, because an empty mask means a full update.
   */
  readonly touchOnly?: boolean
}

/**
 * Stores resources `T` by key `K` for the tenant of the calling principal. Services depend on this interface,
 * not on a backend. If the resource has tenants and the call has none, every method fails with
 * PermissionDenied.
 *
 * @example
 * ```ts
 * import type { Repository } from 'ashlar'
 * import type { Widget } from './widget.js'
 *
 * // Works with a database and in memory.
 * export async function rename(widgets: Repository<Widget>, id: string, displayName: string) {
 *   const { etag } = await widgets.get(id)
 *   return widgets.update(id, { displayName }, ['displayName'], { ifMatch: etag })
 * }
 * ```
 */
export interface Repository<T extends object, K = string> {
  /** The model of the repository's resource. */
  readonly model: ResourceModel<T>
  /**
   * True if a development encryptor protects the secrets. A production server with such a repository does not
   * start.
   */
  readonly isForDevelopment?: boolean
  /** The database table, with the DataSource's schema and prefix. Do not reveal it to callers. */
  readonly table?: { readonly schema: string | undefined; readonly name: string }
  /**
   * True if every operation applies the authorizer's decision in the `access` of its context, as Ashlar's
   * repositories and their subclasses do. A server with row-level authorization does not start with any other
   * repository.
   */
  readonly carriesDecisions?: boolean
  /** A server calls this method before it binds its addresses. */
  startUpCheck?(limits?: {
    readonly maxTenantConnections?: number
  }): StartUpFindings | Promise<StartUpFindings>
  /** Protects the secrets of a call before its transaction begins. Called by the server. @internal */
  readonly prepareSecrets?: PrepareSecrets
  /**
   * Returns the resources for which the functions of `related` can be called, so that a server knows the
   * required permissions.
   * @internal
   */
  readonly relatedQuestions?: (options: { readonly force: boolean }) => RelatedQuestions
  /**
   * Returns the live entity with this key and the relations that `with` names.
   * @throws ErrNotFound if no live entity of this tenant has the key.
   */
  get<const P extends RelationPath<T> = never>(key: K, options?: ReadOptions<P>): Promise<Loaded<T, P>>
  /**
   * Returns the live entity with this key.
   * @throws ErrNotFound
   */
  get(key: K, options?: ReadOptions): Promise<T>
  /**
   * Returns a page of entities with the relations that `with` names.
   *
   * @throws InvalidArgument for an unknown field, a malformed expression or another list's page token.
   */
  list<const P extends RelationPath<T> = never>(
    list?: ListOptions<T> & ReadTogether<P>,
    options?: ListScope,
  ): Promise<Page<Loaded<T, P>>>
  /**
   * Returns a page of the live entities, in a stable order.
   * @throws InvalidArgument for an invalid filter, sort order or page token.
   */
  list(list?: ListOptions<T>, options?: ListScope): Promise<Page<T>>
  /** Returns the number of entities that a list with this filter has on all pages. */
  count(list?: ListFilter, options?: CountOptions): Promise<number>
  /** Returns true if a list with this filter would contain an entity. */
  exists(list?: ListFilter, options?: FilterScope): Promise<boolean>
  /**
   * Creates the entity and returns it as stored.
   *
   * @throws ErrConflict, ErrPreconditionFailed
   */
  create(entity: NewEntity<T>, options?: OperationOptions & ReferringOptions): Promise<T>
  /**
   * Writes the fields that the mask names. Without a mask, writes every writable field, including zero
   * values.
   * @throws InvalidArgument for a plain object without a mask that is not a whole entity.
   */
  update(key: K, entity: Patch<T>, fieldMask?: readonly string[], options?: UpdateOptions): Promise<T>
  /**
   * Reads the entity, locks its row, and writes what `change` returns: an object whose own properties are the
   * fields to change. An object without properties writes nothing. It runs in a transaction, or in a
   * savepoint of the open one. `change` may run more than once.
   * @throws ErrNotFound, ErrPreconditionFailed before `change` has run.
   * @example
   * ```ts
   * import type { WidgetRepository } from './widget-repository.js'
   *
   * export const grow = (widgets: WidgetRepository, id: string) =>
   *   widgets.modify(id, ({ size }) => ({ size: size * 2 }))
   * ```
   */
  modify(key: K, change: (current: T) => Patch<T> | Promise<Patch<T>>, options?: ModifyOptions): Promise<T>
  /**
   * Deletes the entity softly or permanently, depending on the resource. Each relation determines whether
   * referring entities are deleted as well, lose their references, or block the deletion.
   * @throws ErrPreconditionFailed with the number of entities that block the deletion.
   */
  delete(key: K, options?: DeleteOptions): Promise<void>
  /**
   * Restores a soft-deleted entity and everything that was deleted with it.
   * @throws ErrNotFound if the entity is not soft-deleted.
   * @throws ErrPreconditionFailed while it refers to a deleted entity, or to one to which the caller may not
   * refer.
   */
  undelete(key: K, options?: UndeleteOptions): Promise<T>
  /**
   * Returns the entities in the order of the keys, including duplicates. Fails if one is missing. Rows are
   * locked in key order.
   */
  batchGet<const P extends RelationPath<T> = never>(
    keys: readonly K[],
    options?: BatchGetOptions<P>,
  ): Promise<Loaded<T, P>[]>
  /**
   * Returns the entities with these keys, in order.
   * @throws ErrNotFound for a key without a live row, unless `allowMissing` is set.
   */
  batchGet(keys: readonly K[], options?: BatchGetOptions): Promise<T[]>
  /** Updates the entities in one transaction, all or nothing. Returns them in the order of the items. */
  batchUpdate(items: readonly BatchUpdateItem<K, T>[], options?: BatchUpdateOptions): Promise<T[]>
  /** Deletes the entities in one transaction, all or nothing. */
  batchDelete(keys: readonly K[], options?: BatchDeleteOptions): Promise<void>
  /**
   * Writes the patch's properties to every live entity that the filter matches, in one transaction. The
   * filter may name every property that `where` may name. Returns the number of entities written. Overrides
   * of `update` and `batchUpdate` are not called; hooks are, and events are written.
   * @throws ErrPreconditionFailed if the filter matches more entities than `limit`. Nothing is written then.
   * @example
   * ```ts
   * import { filter } from 'ashlar'
   * import type { WidgetRepository } from './widget-repository.js'
   *
   * export const shrink = (widgets: WidgetRepository, day: Date) =>
   *   widgets.updateMany(filter`create_time < ${day}`, { size: 0 }, { limit: 500 })
   * ```
   */
  updateMany(filter: Filter, patch: Patch<T>, options?: UpdateManyOptions): Promise<number>
  /**
   * Deletes every live entity that the filter matches, in one transaction, as `batchDelete` does. Returns the
   * number of entities that the filter matched.
   * @throws ErrPreconditionFailed if the filter matches more entities than `limit`. Nothing is deleted then.
   */
  deleteMany(filter: Filter, options?: DeleteManyOptions): Promise<number>
  /**
   * Permanently removes all entities that expired at or before the given time, together with the entities
   * that their relations delete. Keeps an entity if others refer to it. Returns the number of removed
   * entities.
   */
  purgeExpired(before: Date, options?: OperationOptions): Promise<number>
  /**
   * Runs `fn` in a transaction that every repository call of its context joins. Nested transactions are
   * savepoints. If `fn` throws, everything is rolled back.
   */
  transaction<R>(fn: (context: RequestContext) => Promise<R>, options?: TransactionOptions): Promise<R>
  /**
   * Rejects if the database cannot be reached or rejects all writes, such as a demoted primary. Used by
   * readiness checks. A repository without a database does not have this method.
   */
  checkWrites?(): Promise<void>
}

/** The results of a repository's checks at startup, one sentence each. */
export interface StartUpFindings {
  /** Problems that prevent a server from starting. */
  readonly problems: readonly (string | Problem)[]
  /** Problems that are only logged. */
  readonly warnings: readonly string[]
  /** Columns that a standard Create cannot fill. They are problems if a server has such a method. */
  readonly unfilled?: readonly Problem[]
  /**
   * Reasons why a standard Undelete cannot find the entities that were deleted together. They are problems if
   * a server has such a method.
   */
  readonly unrestorable?: readonly Problem[]
}

/**
 * The isolation level of a transaction (SQL:1992). SQLite and memory run every transaction as `serializable`.
 * @inline
 */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

export interface TransactionOptions extends OperationOptions {
  /**
   * The isolation level. Default: the DataSource's `isolationLevel`, which must be one of these, or the
   * database's default. Only the outermost transaction accepts it.
   */
  readonly isolation?: Isolation
  /** Rejects repository writes inside the transaction. Only the outermost transaction accepts it. */
  readonly readOnly?: boolean
  /**
   * The maximum number of attempts of `fn`, including the first, if a deadlock or a serialization failure
   * occurs, also at the commit. Default: 1. Only the outermost transaction accepts it.
   */
  readonly maxAttempts?: number
}

/** The default maximum number of rows that one deletion writes. */
export const MAX_RELATED = 1000

/** The maximum number of entities in one batch or page. */
export const MAX_BATCH = 1000

/** A repository with any type of key. */
export type AnyKeyRepository<T extends object> = Repository<T> | Repository<T, number> | Repository<T, bigint>
