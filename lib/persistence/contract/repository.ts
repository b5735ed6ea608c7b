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

/** Which entities a list has, and a count counts. Every field may be left out. */
export interface ListFilter {
  /** AIP-160 expression; blank means no filter. In code, build it with the tag `filter`. */
  readonly filter?: string
  /** Include soft-deleted entities (AIP-148). */
  readonly showDeleted?: boolean
  /** Free text for searchable resources; blank means no search. */
  readonly search?: string
}

/** The relations that are read together with entities. */
export interface ReadTogether<With extends string = never> {
  /**
   * The relations that are read into the properties of the result, such as `['project', 'lines']`, or
   * `['project.owner']` for the relation of a relation. A resource is there only while it is live, and in the
   * tenant of the entity; what refers to it is not narrowed by `where`, and its rows are not locked.
   */
  readonly with?: readonly With[]
}

/** The parameters of a list of resources `T`. All are optional. */
export interface ListOptions<in T extends object = object> extends ListFilter {
  /**
   * An AIP-132 string, `field [asc|desc]`, comma-separated, or a list of terms that the compiler checks: `[{
   * size: 'desc' }, 'title']`. Names are proto field names, as in masks; the key is always the last term.
   */
  readonly orderBy?: string | readonly OrderBy<T>[]
  /** Default, and when not positive: 50. More than 1000 counts as 1000. */
  readonly pageSize?: number
  /** `nextPageToken` of the previous page; opaque. */
  readonly pageToken?: string
}

/** A page of a list. */
export interface Page<T> {
  readonly items: T[]
  /** Empty on the last page. */
  readonly nextPageToken: string
}

/** One entity of an atomic batch update. */
export interface BatchUpdateItem<K, T> {
  readonly key: K
  readonly entity: Patch<T>
  /** Proto field names; empty means a full update. */
  readonly fieldMask: readonly string[]
  /** As in {@link UpdateOptions}. */
  readonly touchOnly?: boolean
  /** As in {@link WriteOptions}; one that does not match fails the whole batch. */
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
   * counts as missing. It may name the same fields as `under`. Unlike `under`, it does not become part of a
   * page token.
   */
  readonly where?: Filter
}

/**
 * For reads inside of a transaction whose rows you change afterwards. On SQLite and in memory only one
 * writing transaction runs at a time, so no lock is needed there.
 */
export interface ReadOptions<With extends string = never> extends RowOptions, ReadTogether<With> {
  /**
   * Locks the rows that are read until the transaction ends: `update` against every other lock and write,
   * `share` against writes. Outside of a transaction, or inside of one with `readOnly`, it is a TypeError.
   */
  readonly lock?: RowLock
  /**
   * The behavior if another transaction has locked a row: `block`, the default, waits; `nowait` rejects with
   * Aborted.
   */
  readonly wait?: 'block' | 'nowait'
}

export interface BatchGetOptions<With extends string = never> extends ReadOptions<With> {
  /** Returns the existing entities, once each, instead of ErrNotFound if one is missing. */
  readonly allowMissing?: boolean
  /**
   * Rejects with ResourceExhausted if the rows have more than this many bytes, without reading the rest of
   * them. Default: no limit.
   */
  readonly maxBytes?: number
}

/** Options of `lookupBy<Field>Hash`. */
export interface LookupOptions<With extends string = never> extends RowOptions, ReadTogether<With> {}

export interface FilterScope extends RowOptions {
  /**
   * Narrows the list by a condition of your code, such as a parent or an owner, in addition to the caller's
   * filter: `` filter`parent = ${parent}` ``. It may name every field of the entity but secrets, including
   * fields that callers cannot filter by. A page token is valid only with the same `under`.
   */
  readonly under?: Filter
  /**
   * The relations through which the caller's filter and order may lead, such as `['project', 'steps']`:
   * `project.title = "a"`. Without it they name fields of the entity alone.
   */
  readonly through?: readonly Through[]
}

export interface ListScope extends FilterScope {
  /**
   * As in {@link ReadOptions}. A full page then always has a token, even the last one: to find out, one more
   * row would have to be locked. Order by fields that do not change while the list waits.
   */
  readonly lock?: RowLock
  /** As in {@link ReadOptions}; `skip` leaves out rows that another transaction has locked. */
  readonly wait?: 'block' | 'nowait' | 'skip'
  /**
   * Ends the page before its entities have more than this many bytes of strings, bytes and JSON in the
   * database. A page has at least one entity, however large. Default: no limit.
   */
  readonly maxBytes?: number
}

export interface CountOptions extends FilterScope {
  /**
   * Counting stops at this number, which is then the count. It bounds the cost on a large table. Default: no
   * bound.
   */
  readonly limit?: number
}

export interface WriteOptions extends RowOptions {
  /** The etag the entity must still have (RFC 9110 If-Match, AIP-154); an empty one matches nothing. */
  readonly ifMatch?: string
  /** Lets a mask name output-only fields. For server code only, never for a client's mask. */
  readonly outputOnly?: boolean
}

export interface BatchUpdateOptions extends RowOptions, ReferringOptions {
  /** As in {@link WriteOptions}, for the masks of all items. */
  readonly outputOnly?: boolean
  /**
   * Rejects with ResourceExhausted if the updated rows have more than this many bytes, without reading the
   * rest of them. Default: no limit.
   */
  readonly maxBytes?: number
}

export interface BatchDeleteOptions extends RowOptions, RelatedOptions {
  /**
   * Rejects with ResourceExhausted if the rows have to be read, for events or row-level authorization, and
   * have more than this many bytes. Default: no limit.
   */
  readonly maxBytes?: number
  /**
   * Also deletes resources that refer to an entity if the relation restricts deletion (AIP-135). Default:
   * false. A resource that can be undeleted is never deleted together with one that cannot. If it is
   * explicitly `false`, the caller could have requested it, and the error of a rejected delete says so.
   */
  readonly force?: boolean
}

export interface UpdateManyOptions extends RowOptions, ReferringOptions, Limited {
  /** As in {@link WriteOptions}. */
  readonly outputOnly?: boolean
}

export interface DeleteManyOptions extends RowOptions, RelatedOptions, Limited {
  /** As in {@link BatchDeleteOptions}. */
  readonly force?: boolean
}

interface Limited {
  /** The largest number of entities that may be written. Default: 1,000. */
  readonly limit?: number
}

export interface DeleteOptions extends WriteOptions, BatchDeleteOptions {}

export interface UndeleteOptions extends WriteOptions, RelatedOptions, ReferringOptions {}

export interface ModifyOptions extends WriteOptions, ReferringOptions {
  /**
   * The maximum number of attempts, the first included, if a deadlock or a serialization failure ends it.
   * Default: 4. Inside another transaction it is a TypeError, because the whole transaction must run again.
   */
  readonly maxAttempts?: number
}

export interface UpdateOptions extends WriteOptions, ReferringOptions {
  /**
   * Writes only `etag` and `update_time`, whatever the mask names. Default: false. Use it when every name of
   * a mask must be ignored, and pass that mask unchanged: an empty mask means a full update.
   */
  readonly touchOnly?: boolean
}

/**
 * Storage of resource `T` under key `K` for the tenant of the calling principal. Service code depends on
 * this, never on a backend. Every method rejects with PermissionDenied when a tenant-scoped resource is
 * reached without a tenant.
 */
export interface Repository<T extends object, K = string> {
  /** The model of the repository's resource. */
  readonly model: ResourceModel<T>
  /** True where secrets are kept by an encryptor for development, which a production server refuses. */
  readonly isForDevelopment?: boolean
  /** The table in the database, by the schema and prefix of the DataSource. Callers must not learn it. */
  readonly table?: { readonly schema: string | undefined; readonly name: string }
  /**
   * True if the repository carries out every operation as the `access` of its context decides. Repositories
   * that extend the framework's do. A server whose authorizer decides by row does not start with any other
   * repository.
   */
  readonly carriesDecisions?: boolean
  /** A server asks before it binds its addresses. */
  startUpCheck?(limits?: {
    readonly maxTenantConnections?: number
  }): StartUpFindings | Promise<StartUpFindings>
  /** Protects the secrets of a call before a transaction begins for it. A server calls it. */
  readonly prepareSecrets?: PrepareSecrets
  /** About which resources `related` can be asked, so that a server knows which permissions there are. */
  readonly relatedQuestions?: (options: { readonly force: boolean }) => RelatedQuestions
  /**
   * The live entity of this key, with the relations that `with` names.
   * @throws ErrNotFound when no live entity of this tenant has the key.
   */
  get<const P extends RelationPath<T> = never>(key: K, options?: ReadOptions<P>): Promise<Loaded<T, P>>
  /** The live entity of this key. @throws ErrNotFound */
  get(key: K, options?: ReadOptions): Promise<T>
  /** @throws InvalidArgument for an unknown field, a malformed expression or a foreign page token. */
  list<const P extends RelationPath<T> = never>(
    list?: ListOptions<T> & ReadTogether<P>,
    options?: ListScope,
  ): Promise<Page<Loaded<T, P>>>
  /**
   * A page of the live entities, in a stable order.
   * @throws InvalidArgument for a filter, an order or a token that cannot be used.
   */
  list(list?: ListOptions<T>, options?: ListScope): Promise<Page<T>>
  /** The number of entities a list with this filter has on all of its pages. */
  count(list?: ListFilter, options?: CountOptions): Promise<number>
  /** True if a list with this filter has any. */
  exists(list?: ListFilter, options?: FilterScope): Promise<boolean>
  /** @throws ErrConflict, ErrPreconditionFailed */
  create(entity: NewEntity<T>, options?: OperationOptions & ReferringOptions): Promise<T>
  /**
   * Without a mask every writable field is written, zero values included; with one only the fields it names.
   * @throws InvalidArgument for a plain object that is not the whole entity and comes without a mask.
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
   * Soft or hard, depending on the resource. What refers to the entity goes with it, loses the reference, or
   * keeps it from being deleted, as the relation says.
   * @throws ErrPreconditionFailed that counts what refers to it.
   */
  delete(key: K, options?: DeleteOptions): Promise<void>
  /**
   * Brings back what was deleted with the entity, too.
   * @throws ErrNotFound unless the entity is soft-deleted. @throws ErrPreconditionFailed while it refers to a
   * deleted one, or to one that the caller may not refer to.
   */
  undelete(key: K, options?: UndeleteOptions): Promise<T>
  /** In the order of the keys, duplicates included; all or nothing. Rows are locked in key order. */
  batchGet<const P extends RelationPath<T> = never>(
    keys: readonly K[],
    options?: BatchGetOptions<P>,
  ): Promise<Loaded<T, P>[]>
  /**
   * The entities of these keys, in their order.
   * @throws ErrNotFound for a key without a live row, unless `allowMissing` is set.
   */
  batchGet(keys: readonly K[], options?: BatchGetOptions): Promise<T[]>
  /** In the order of the items, in one transaction; all or nothing. */
  batchUpdate(items: readonly BatchUpdateItem<K, T>[], options?: BatchUpdateOptions): Promise<T[]>
  /** In one transaction; all or nothing. */
  batchDelete(keys: readonly K[], options?: BatchDeleteOptions): Promise<void>
  /**
   * Writes the properties of the patch to every live entity that the filter matches, in one transaction.
   * The filter may name every property that `where` may name. Returns how many entities were written.
   * Overrides of `update` and `batchUpdate` are not called; hooks and events are.
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
   * Deletes every live entity that the filter matches, in one transaction, as `batchDelete` does. Returns how
   * many entities the filter matched.
   * @throws ErrPreconditionFailed if the filter matches more entities than `limit`. Nothing is deleted then.
   */
  deleteMany(filter: Filter, options?: DeleteManyOptions): Promise<number>
  /**
   * Removes permanently all entities that expired at or before the time, and before them what goes with them.
   * One that others refer to stays. Returns how many.
   */
  purgeExpired(before: Date, options?: OperationOptions): Promise<number>
  /**
   * Runs `fn` in a transaction that every repository call of its context joins; nested transactions are
   * savepoints. If `fn` throws, everything is rolled back.
   */
  transaction<R>(fn: (context: RequestContext) => Promise<R>, options?: TransactionOptions): Promise<R>
  /**
   * For a readiness check. Rejects while the database refuses all writes, as a demoted primary does, or
   * cannot be reached. Absent for a repository without a database.
   */
  checkWrites?(): Promise<void>
}

/** The results of a repository's checks at startup, one sentence each. */
export interface StartUpFindings {
  /** Problems that keep a server from starting. */
  readonly problems: readonly (string | Problem)[]
  /** Problems that are only logged. */
  readonly warnings: readonly string[]
  /** Columns that a standard Create cannot fill: problems for a server that has one. */
  readonly unfilled?: readonly Problem[]
  /** Why a standard Undelete cannot tell what was deleted together: problems for a server that has one. */
  readonly unrestorable?: readonly Problem[]
}

/**
 * The isolation level of a transaction (SQL:1992). SQLite and memory run every transaction as `serializable`.
 */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable'

export interface TransactionOptions extends OperationOptions {
  /**
   * Default: `isolationLevel` of the DataSource, which must be one of these, or the database's default. Only
   * the outermost transaction accepts it.
   */
  readonly isolation?: Isolation
  /** Refuses writes of repositories inside. Only the outermost transaction takes it. */
  readonly readOnly?: boolean
  /**
   * The maximum number of attempts of `fn`, the first included, if a deadlock or a serialization failure ends
   * it, at the commit too. Default: 1. Only the outermost transaction accepts it.
   */
  readonly maxAttempts?: number
}

/** The default maximum number of rows that one deletion writes. */
export const MAX_RELATED = 1000

/** The most entities one batch or page holds. */
export const MAX_BATCH = 1000

/** A repository whose keys are of any type. */
export type AnyKeyRepository<T extends object> = Repository<T> | Repository<T, number> | Repository<T, bigint>
