import type { RequestContext } from '../../context.js'
import { ErrNotFound, PermissionDenied } from '../../errors.js'
import type {
  BatchUpdateItem,
  CountOptions,
  FilterScope,
  ListFilter,
  ListOptions,
  ListScope,
  ModifyOptions,
  OperationOptions,
  Page,
  BatchGetOptions,
  ReadOptions,
  ReadTogether,
  Repository,
  RowOptions,
  TransactionOptions,
  UpdateOptions,
  WriteOptions,
} from '../../persistence/contract/repository.js'
import { forWrite } from '../../persistence/contract/row-lock.js'
import { joinOptions } from '../../persistence/contract/scope.js'
import type { Filter } from '../../persistence/query/filter-template.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { allPass, both, listable, type Restriction } from '../authz/decision.js'
import type { Restricted, RowAccessKind } from '../chain/row-access.js'
import { isOverridden } from '../../persistence/repository/repository-view.js'
import { deletedEntity } from '../methods/etag-conditions.js'
import { type Asked, type Decided, sameContext, sameRows, type Write } from './decided.js'
import { refuseRelations, refuseThrough, runWithPredicate } from './run-with-predicate.js'

/**
 * A repository as a call may use it whose authorizer decided by row. A row that the caller may not get is
 * NotFound, whatever the call; one that the caller may get but not change is PermissionDenied.
 */
export class RestrictedRepository implements Restricted {
  readonly model: ResourceModel

  constructor(
    private readonly inner: Repository<object>,
    private readonly decided: Decided,
    private readonly kind: RowAccessKind,
  ) {
    this.model = inner.model
  }

  async get(key: string, options?: ReadOptions): Promise<object> {
    refuseRelations(options)
    const [entity] = await this.#read({ name: 'get', keys: [key] }, options, async (asked) => [
      await this.inner.get(key, asked),
    ])
    return entity as object
  }

  async batchGet(keys: readonly string[], options?: ReadOptions): Promise<object[]> {
    refuseRelations(options)
    return this.#read({ name: 'batchGet', keys }, options, (asked) => this.inner.batchGet(keys, asked))
  }

  async list(list?: ListOptions & ReadTogether<string>, options?: ListScope): Promise<Page<object>> {
    refuseRelations(list)
    const { isNone, where } = await this.#listed(options)
    if (isNone) return { items: [], nextPageToken: '' }
    return runWithPredicate(this.inner, 'list', options, where, (asked) => this.inner.list(list, asked))
  }

  async count(list?: ListFilter, options?: CountOptions): Promise<number> {
    const { isNone, where } = await this.#listed(options)
    return isNone
      ? 0
      : runWithPredicate(this.inner, 'count', options, where, (asked) => this.inner.count(list, asked))
  }

  async exists(list?: ListFilter, options?: FilterScope): Promise<boolean> {
    const { isNone, where } = await this.#listed(options)
    return (
      !isNone &&
      runWithPredicate(this.inner, 'exists', options, where, (asked) => this.inner.exists(list, asked))
    )
  }

  async create(entity: object, options?: OperationOptions): Promise<object> {
    const { where, check } = this.decided.own
    if (where === undefined && check === undefined) return this.inner.create(entity, options)
    return this.#inTransaction(options, async (inside) => {
      const created = await this.inner.create(entity, inside)
      await this.#mustHold([created], inside)
      return created
    })
  }

  update(
    key: string,
    entity: object,
    fieldMask?: readonly string[],
    options?: UpdateOptions,
  ): Promise<object> {
    return this.#write(options, {
      name: 'update',
      keys: [key],
      run: (asked) => this.inner.update(key, entity, fieldMask, asked),
      written: (updated) => [updated],
    })
  }

  modify(
    key: string,
    change: (current: object) => object | Promise<object>,
    options?: ModifyOptions,
  ): Promise<object> {
    return this.#write(options, {
      name: 'modify',
      keys: [key],
      run: (asked) => this.inner.modify(key, change, asked),
      written: (modified) => [modified],
    })
  }

  delete(key: string, options?: WriteOptions): Promise<void> {
    return this.#write(options, {
      name: 'delete',
      keys: [key],
      run: (asked) => this.inner.delete(key, asked),
    })
  }

  undelete(key: string, options?: WriteOptions): Promise<object> {
    return this.#write(options, {
      name: 'undelete',
      keys: [key],
      run: (asked) => this.inner.undelete(key, asked),
    })
  }

  batchUpdate(items: readonly BatchUpdateItem<string, object>[], options?: WriteOptions): Promise<object[]> {
    return this.#write(options, {
      name: 'batchUpdate',
      keys: items.map(({ key }) => key),
      run: (asked) => this.inner.batchUpdate(items, asked),
      written: (updated) => updated,
    })
  }

  batchDelete(keys: readonly string[], options?: RowOptions): Promise<void> {
    return this.#write(options, {
      name: 'batchDelete',
      keys,
      run: (asked) => this.inner.batchDelete(keys, asked),
    })
  }

  /** Not for callers: a purge is the server's own. */
  purgeExpired(before: Date, options?: OperationOptions): Promise<number> {
    return this.inner.purgeExpired(before, options)
  }

  transaction<R>(fn: (context: RequestContext) => Promise<R>, options?: TransactionOptions): Promise<R> {
    return this.inner.transaction(fn, options)
  }

  /** @throws ErrNotFound unless the caller may get all of the entities; deleted ones count. */
  async mustSee(keys: readonly string[], options: OperationOptions): Promise<void> {
    const { isNone, where, test } = await this.decided.readable()
    if (isNone) throw this.#missing()
    if (keys.length === 0) return
    const live = await this.#stored(false, keys, options, where)
    if (live !== undefined) return this.#mustPass(live, test)
    for (const key of new Set(keys)) {
      const found =
        (await this.#stored(false, [key], options, where)) ??
        (await this.#stored(true, [key], options, where))
      if (found === undefined) throw this.#missing()
      await this.#mustPass(found, test)
    }
  }

  async #listed(options: FilterScope | undefined): Promise<Restriction> {
    const { own } = this.decided
    const { type } = this.model
    // Where a standard method lists, its `through` is what the authorizer has decided about the other
    // resources.
    if (this.kind === 'reads') return listable(own, type)
    refuseThrough(options)
    const readable = listable(await this.decided.readable(), type)
    if (this.kind === 'writes' || readable.isNone) return readable
    return { ...readable, where: both(readable.where, listable(own, type).where) }
  }

  /** A row that the caller may get, and that the call may not act on, is a denial as it is for a write. */
  async #read(
    asked: Asked,
    options: ReadOptions | undefined,
    run: (options: ReadOptions) => Promise<object[]>,
  ): Promise<object[]> {
    const readable = await this.#readable()
    const own = this.kind === 'acts' ? this.decided.own : undefined
    const reach = both(readable.where, own?.where)
    let entities: object[]
    try {
      entities = await runWithPredicate(this.inner, asked.name, options, reach, run)
    } catch (error) {
      if (!(error instanceof ErrNotFound)) throw error
      if (own?.where !== undefined) throw await this.#missOf(asked, options, readable, reach, error)
      // As of a row that is there, and excluded.
      if ((readable.where ?? readable.test) !== undefined) this.decided.explain(MISSING)
      throw error
    }
    await this.#mustPass(entities, readable.test)
    if (!(await allPass(entities, own?.test))) throw this.#denied()
    return entities
  }

  async #readable(): Promise<Restriction> {
    const readable = this.kind === 'reads' ? this.decided.own : await this.decided.readable()
    if (readable.isNone) throw this.#missing()
    return readable
  }

  async #write<R>(options: WriteOptions | undefined, write: Write<R>): Promise<R> {
    const readable = await this.decided.readable()
    if (readable.isNone) throw this.#missing()
    const { own } = this.decided
    const reach = both(readable.where, own.where)
    const isTested = readable.test !== undefined || own.test !== undefined
    const written = own.check === undefined && own.where === undefined ? undefined : write.written
    const run = async (inside: WriteOptions): Promise<R> => {
      if (isTested) await this.#lock(write, inside, readable, reach)
      const result = await this.#reached(write, inside, readable, reach)
      if (written !== undefined) await this.#mustHold(written(result), inside)
      return result
    }
    // What an overridden operation did without the predicate has to be taken back.
    const writes = write.name === 'modify' ? 'update' : write.name
    const isAtomic = isTested || written !== undefined || isOverridden(this.inner, writes)
    return isAtomic ? this.#inTransaction(options, run) : run(joinOptions(options, {}))
  }

  #inTransaction<O extends OperationOptions, R>(
    options: O | undefined,
    fn: (options: O & OperationOptions) => Promise<R>,
  ): Promise<R> {
    return this.inner.transaction(
      (inside) => fn(joinOptions(options, { context: inside })),
      sameContext(options),
    )
  }

  /** Locks the rows and asks about each of them. */
  async #lock<R>(
    write: Write<R>,
    inside: WriteOptions,
    readable: Restriction,
    reach: Filter | undefined,
  ): Promise<void> {
    const { name, keys } = write
    const options = { ...sameRows(inside), ...forWrite }
    const stored = await this.#stored(name === 'undelete', keys, options, reach)
    // The write itself might reach a row that has come into reach since, and that nobody was asked about.
    if (stored === undefined) throw await this.#missOf(write, inside, readable, reach, new ErrNotFound())
    await this.#mustPass(stored, readable.test)
    if (!(await allPass(stored, this.decided.own.test))) throw this.#denied()
  }

  async #reached<R>(
    write: Write<R>,
    options: WriteOptions,
    readable: Restriction,
    reach: Filter | undefined,
  ): Promise<R> {
    try {
      return await runWithPredicate(this.inner, write.name, options, reach, write.run)
    } catch (error) {
      if (!(error instanceof ErrNotFound) || reach === undefined) throw error
      throw await this.#missOf(write, options, readable, reach, error)
    }
  }

  /** Whether rows that were not reached may be told from rows that are not there. */
  async #missOf(
    { name, keys }: Asked,
    asked: RowOptions | undefined,
    readable: Restriction,
    reach: Filter | undefined,
    error: ErrNotFound,
  ): Promise<Error> {
    const options = sameRows(asked)
    const isDeleted = name === 'undelete'
    const seen = await this.#stored(isDeleted, keys, options, readable.where)
    if (seen === undefined) return this.#missing()
    if (!(await allPass(seen, readable.test))) return this.#missing()
    // The rows are in reach: what an operation of the application did not find is something else.
    return (await this.#stored(isDeleted, keys, options, reach)) === undefined ? this.#denied() : error
  }

  /** All of the entities, or undefined. The repository is not asked for a text that is no key. */
  async #stored(
    isDeleted: boolean,
    keys: readonly string[],
    options: BatchGetOptions,
    where: Filter | undefined,
  ): Promise<object[] | undefined> {
    try {
      if (!isDeleted)
        return await runWithPredicate(this.inner, 'batchGet', options, where, (asked) =>
          this.inner.batchGet([...new Set(keys)], asked),
        )
      const [key = ''] = keys
      if (this.model.keys.given(key) === undefined) return undefined
      const entity = await runWithPredicate(this.inner, 'list', options, where, (asked) =>
        deletedEntity(this.inner, key, asked),
      )
      return entity && [entity]
    } catch (error) {
      if (error instanceof ErrNotFound) return undefined
      throw error
    }
  }

  /** What was written is something that the caller may write. */
  async #mustHold(entities: readonly object[], options: OperationOptions): Promise<void> {
    const { where, check } = this.decided.own
    if (check !== undefined) {
      if (!(await allPass(entities, check))) throw this.#denied('check')
      return
    }
    const keys = entities.map((entity) => this.model.keys.ofEntity(entity) as string)
    const held = await this.#stored(false, keys, sameContext(options), where)
    if (held === undefined) throw this.#denied('check')
  }

  async #mustPass(entities: readonly object[], test: Restriction['test']): Promise<void> {
    if (!(await allPass(entities, test))) throw this.#missing()
  }

  #missing(): ErrNotFound {
    this.decided.explain(MISSING)
    return new ErrNotFound()
  }

  #denied(by: 'where' | 'check' = 'where'): PermissionDenied {
    this.decided.explain(
      by === 'where'
        ? 'the caller may get the row; it is not among those that this call may change'
        : 'the row as it would be written is not among those that this call may write',
    )
    return new PermissionDenied()
  }
}

const MISSING = 'no row of this key is among those that the caller may get'
