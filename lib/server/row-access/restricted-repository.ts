import { RequestContext } from '../../context.js'
import { ErrNotFound } from '../../errors.js'
import type {
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
  TransactionOptions,
  UndeleteOptions,
  UpdateManyOptions,
  UpdateOptions,
} from '../../persistence/contract/repository.js'
import type { Filter } from '../../persistence/query/filter-template.js'
import type { Unrestricted } from '../../persistence/repository/repository-operation.js'
import { isOverridden, shownBy } from '../../persistence/repository/repository-view.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Restriction } from '../authz/decision.js'
import { enter } from '../chain/enter.js'
import type { ReferringWrites, Restricted, RowAccessKind } from '../chain/row-access.js'
import {
  CalledOperation,
  type DecidedOperation,
  type Limits,
  type OperationKind,
} from './called-operation.js'
import type { Decided } from './decided.js'
import { MISSING, RestrictedOperation } from './restricted-operation.js'

/** The repository method that is called. */
interface Called {
  readonly name: keyof Repository<object>
  readonly kind: OperationKind
  /** Returns the entities to be written. */
  readonly named?: () => readonly object[]
}

/** The limits that apply to a method. */
interface Found extends Limits {
  /** Returns true if the caller may access only some of the rows. */
  readonly isLimited: () => Promise<boolean>
}

/**
 * A repository with the restrictions of one call. Each method runs as the application has overridden it, and
 * the restrictions apply when the repository executes its operations.
 */
export class RestrictedRepository implements Restricted {
  readonly model: ResourceModel
  readonly #decides: object

  /**
   * @param decided - omitted if the caller may access all rows of the tenant.
   * @param kind - how the method uses the repository.
   * @param referring - omitted if the caller may refer to every resource.
   */
  constructor(
    private readonly inner: Repository<object>,
    private readonly decided: Decided | undefined,
    private readonly kind: RowAccessKind,
    private readonly referring?: ReferringWrites,
  ) {
    this.model = inner.model
    this.#decides = shownBy(inner)
  }

  async get(key: string, options?: ReadOptions): Promise<object> {
    this.#refuseRelations(options)
    return this.#call({ name: 'get', kind: 'get' }, options, (asked) => this.inner.get(key, asked))
  }

  async batchGet(keys: readonly string[], options?: BatchGetOptions): Promise<object[]> {
    this.#refuseRelations(options)
    return this.#call({ name: 'batchGet', kind: 'get' }, options, (asked) => this.inner.batchGet(keys, asked))
  }

  async list(list?: ListOptions & ReadTogether<string>, options?: ListScope): Promise<Page<object>> {
    this.#refuseRelations(list, options)
    return this.#call({ name: 'list', kind: 'list' }, options, (asked) => this.inner.list(list, asked))
  }

  async count(list?: ListFilter, options?: CountOptions): Promise<number> {
    this.#refuseRelations(undefined, options)
    return this.#call({ name: 'count', kind: 'list' }, options, (asked) => this.inner.count(list, asked))
  }

  async exists(list?: ListFilter, options?: FilterScope): Promise<boolean> {
    this.#refuseRelations(undefined, options)
    return this.#call({ name: 'exists', kind: 'list' }, options, (asked) => this.inner.exists(list, asked))
  }

  create(entity: object, options?: OperationOptions): Promise<object> {
    return this.#call({ name: 'create', kind: 'create', named: () => [entity] }, options, (asked) =>
      this.inner.create(entity, asked),
    )
  }

  update(key: string, entity: object, mask?: readonly string[], options?: UpdateOptions): Promise<object> {
    return this.#call({ name: 'update', kind: 'update', named: () => [entity] }, options, (asked) =>
      this.inner.update(key, entity, mask, asked),
    )
  }

  modify(
    key: string,
    change: (current: object) => object | Promise<object>,
    options?: ModifyOptions,
  ): Promise<object> {
    return this.#call({ name: 'modify', kind: 'update' }, options, (asked) =>
      this.inner.modify(key, change, asked),
    )
  }

  delete(key: string, options?: DeleteOptions): Promise<void> {
    return this.#call({ name: 'delete', kind: 'delete' }, options, (asked) => this.inner.delete(key, asked))
  }

  undelete(key: string, options?: UndeleteOptions): Promise<object> {
    return this.#call({ name: 'undelete', kind: 'undelete' }, options, (asked) =>
      this.inner.undelete(key, asked),
    )
  }

  batchUpdate(
    items: readonly BatchUpdateItem<string, object>[],
    options?: BatchUpdateOptions,
  ): Promise<object[]> {
    const named = () => items.map(({ entity }) => entity)
    return this.#call({ name: 'batchUpdate', kind: 'update', named }, options, (asked) =>
      this.inner.batchUpdate(items, asked),
    )
  }

  batchDelete(keys: readonly string[], options?: DeleteOptions): Promise<void> {
    return this.#call({ name: 'batchDelete', kind: 'delete' }, options, (asked) =>
      this.inner.batchDelete(keys, asked),
    )
  }

  updateMany(filter: Filter, patch: object, options?: UpdateManyOptions): Promise<number> {
    const named = () => [patch]
    return this.#call({ name: 'updateMany', kind: 'update', named }, options, (asked) =>
      this.inner.updateMany(filter, patch, asked),
    )
  }

  deleteMany(filter: Filter, options?: DeleteManyOptions): Promise<number> {
    return this.#call({ name: 'deleteMany', kind: 'delete' }, options, (asked) =>
      this.inner.deleteMany(filter, asked),
    )
  }

  /** Purges without restriction, because only the server calls it. */
  purgeExpired(before: Date, options?: OperationOptions): Promise<number> {
    return this.inner.purgeExpired(before, options)
  }

  transaction<R>(fn: (context: RequestContext) => Promise<R>, options?: TransactionOptions): Promise<R> {
    return this.inner.transaction(fn, options)
  }

  /** @throws ErrNotFound unless the caller may get all of the entities, including deleted ones. */
  async mustSee(keys: readonly string[], options: OperationOptions): Promise<void> {
    const { decided, kind } = this
    if (decided === undefined) return
    const restricted = async (operation: DecidedOperation, unrestricted: Unrestricted) => {
      await new RestrictedOperation(operation, unrestricted, decided, kind).mustSee(keys)
      return []
    }
    const found = { restricted, isLimited: async () => isLimit(await decided.readable()) }
    await this.#run({ name: 'batchGet', kind: 'get' }, found, options, (asked) =>
      this.inner.batchGet(keys, asked),
    )
  }

  async #call<O extends OperationOptions, R>(
    called: Called,
    options: O | undefined,
    run: (options: O) => Promise<R>,
  ): Promise<R> {
    const { decided, kind } = this
    const referred = REFERRING.has(called.kind) ? this.referring?.of(called) : undefined
    const restricted =
      decided &&
      ((operation: DecidedOperation, unrestricted: Unrestricted) =>
        new RestrictedOperation(operation, unrestricted, decided, kind).run())
    const isLimited = async () =>
      (decided !== undefined && (await this.#isRestricted(called.kind, decided))) ||
      (await referred?.isLimited()) === true
    return this.#run(called, { restricted, references: referred?.references, isLimited }, options, run)
  }

  /** @throws ErrNotFound if the caller may get no row at all. Runs before the application's code. */
  async #mustReachSome(kind: OperationKind, { own, readable, explain }: Decided): Promise<void> {
    if (kind === 'list' || kind === 'create') return
    const { isNone } = this.kind === 'reads' ? own : await readable()
    if (!isNone) return
    explain(MISSING)
    throw new ErrNotFound()
  }

  async #isRestricted(kind: OperationKind, { own, readable }: Decided): Promise<boolean> {
    if (kind === 'create') return own.where !== undefined || own.check !== undefined
    return isLimit(own) || (this.kind !== 'reads' && isLimit(await readable()))
  }

  /**
   * Runs an overridden method with its limits.
   * @throws TypeError if an override returned without an operation of its kind although the caller may access
   *   only some of the rows.
   */
  async #run<O extends OperationOptions, R>(
    { name, kind }: Called,
    { isLimited, ...limits }: Found,
    options: O | undefined,
    run: (options: O) => Promise<R>,
  ): Promise<R> {
    const outside = options?.context ?? RequestContext.current()
    const called = new CalledOperation(this.#decides, kind, limits)
    const asked = (context: RequestContext): O =>
      ({ ...options, context: context.with({ access: called }) }) as O
    try {
      const names: readonly string[] = [name, ...(CALLS[name] ?? [])]
      if (!names.some((one) => isOverridden(this.inner, one))) return await run(asked(outside))
      if (this.decided !== undefined) await this.#mustReachSome(kind, this.decided)
      const overridden = async (context: RequestContext): Promise<R> => {
        const inside = asked(context)
        const result = await enter(inside.context as RequestContext, () => run(inside))
        if (!called.isReached && (await isLimited())) throw this.#unreached(name)
        return result
      }
      // If the override bypassed the operation, its own writes must be rolled back.
      if (kind === 'get' || kind === 'list' || !(await isLimited())) return await overridden(outside)
      return await this.inner.transaction(overridden, { context: outside })
    } finally {
      called.end()
    }
  }

  #unreached(name: string): TypeError {
    return new TypeError(
      `${this.inner.constructor.name}.${name} returned without super.${name}: the authorizer limits what this call may do, so the override must call the repository's operation`,
    )
  }

  /**
   * Custom functions may read the rows of one repository only.
   * @throws TypeError for a read that uses relations.
   */
  #refuseRelations(
    read: { readonly with?: readonly string[] } | undefined,
    { through }: Pick<FilterScope, 'through'> = {},
  ): void {
    if (this.kind !== 'acts' || this.decided === undefined) return
    if (read?.with !== undefined)
      throw new TypeError(
        'with: a restricted repository only reads its own rows: read the others through call.restricted() with their repository',
      )
    if (through !== undefined)
      throw new TypeError(
        'through: a restricted repository only reads its own rows: remove it, or list with the repository itself',
      )
  }
}

/** Kinds of operations that write references. */
const REFERRING: ReadonlySet<OperationKind> = new Set(['create', 'update', 'undelete'])

/** The methods that call other methods of the repository. */
const CALLS: Readonly<Partial<Record<keyof Repository<object>, readonly string[]>>> = {
  exists: ['count'],
  modify: ['get', 'update', 'transaction'],
}

const isLimit = ({ isNone, where, test, check }: Restriction): boolean =>
  isNone || where !== undefined || test !== undefined || check !== undefined
