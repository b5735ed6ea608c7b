import { RequestContext } from '../../context.js'
import { ErrNotFound, PermissionDenied } from '../../errors.js'
import type { BatchGetOptions, OperationOptions, RowOptions } from '../../persistence/contract/repository.js'
import { forWrite } from '../../persistence/contract/row-lock.js'
import type { Filter } from '../../persistence/query/filter-template.js'
import type {
  Operation,
  OperationOf,
  Unrestricted,
} from '../../persistence/repository/repository-operation.js'
import { allPass, both, listable, type Restriction } from '../authz/decision.js'
import { deletedEntity } from '../methods/etag-conditions.js'
import type { RowAccessKind } from '../chain/row-access.js'
import type { DecidedOperation } from './called-operation.js'
import type { Decided } from './decided.js'

type Read = OperationOf<'get' | 'batchGet' | 'lookup'>
type Many = OperationOf<'updateMany' | 'deleteMany'>
type Write = Exclude<DecidedOperation, Read | Many | OperationOf<'list' | 'count' | 'create'>>

/**
 * One operation of a call with a row-level decision. If the caller may not get a row, the operation fails
 * with NotFound. If it may get but not change the row, with PermissionDenied.
 */
export class RestrictedOperation {
  /** The call's context. */
  readonly #given: RequestContext
  /** The context of the operation's parts, which are not restricted again. */
  readonly #context: RequestContext
  readonly #where: Filter | undefined

  constructor(
    private readonly operation: DecidedOperation,
    private readonly unrestricted: Unrestricted,
    private readonly decided: Decided,
    private readonly kind: RowAccessKind,
  ) {
    const options: RowOptions = operation.options ?? {}
    this.#given = options.context ?? RequestContext.current()
    this.#context = this.#given.with({ access: undefined })
    this.#where = options.where
  }

  async run(): Promise<unknown> {
    const { operation } = this
    switch (operation.kind) {
      case 'get':
      case 'batchGet':
      case 'lookup':
        return this.#read(operation)
      case 'list':
      case 'count':
        return this.#list(operation)
      case 'create':
        return this.#create(operation)
      case 'updateMany':
      case 'deleteMany':
        return this.#writeMany(operation)
      default:
        return this.#write(operation)
    }
  }

  /** @throws ErrNotFound unless the caller may get all of the entities, including deleted ones. */
  async mustSee(keys: readonly unknown[]): Promise<void> {
    const { isNone, where, test } = await this.decided.readable()
    if (isNone) throw this.#missing()
    if (keys.length === 0) return
    const live = await this.#stored(false, keys, this.#context, where)
    if (live !== undefined) return this.#mustPass(live, test)
    for (const key of new Set(keys)) {
      const found =
        (await this.#stored(false, [key], this.#context, where)) ??
        (await this.#stored(true, [key], this.#context, where))
      if (found === undefined) throw this.#missing()
      await this.#mustPass(found, test)
    }
  }

  /**
   * Reads a row. If the caller may get the row but the call may not access it, it is denied, as for a write.
   */
  async #read(operation: Read): Promise<unknown> {
    const readable = await this.#readable()
    const own = this.kind === 'acts' ? this.decided.own : undefined
    const reach = both(readable.where, own?.where)
    let result: object
    try {
      result = (await this.#perform(operation, { reach })) as object
    } catch (error) {
      if (!(error instanceof ErrNotFound)) throw error
      if (own?.where !== undefined && operation.kind !== 'lookup')
        throw await this.#missOf(keysOf(operation), false, this.#context, readable, reach, error)
      // Reported as for an existing but excluded row.
      if ((readable.where ?? readable.test) !== undefined) this.decided.explain(MISSING)
      throw error
    }
    const entities = Array.isArray(result) ? (result as object[]) : [result]
    await this.#mustPass(entities, readable.test)
    if (!(await allPass(entities, own?.test))) throw this.#denied()
    return result
  }

  async #list(operation: OperationOf<'list' | 'count'>): Promise<unknown> {
    const { isNone, where } = await this.#listed()
    if (!isNone) return this.#perform(operation, { reach: where })
    return operation.kind === 'count' ? 0 : { items: [], nextPageToken: '' }
  }

  async #listed(): Promise<Restriction> {
    const { own } = this.decided
    const { type } = this.unrestricted.model
    if (this.kind === 'reads') return listable(own, type)
    const readable = listable(await this.decided.readable(), type)
    if (this.kind === 'writes' || readable.isNone) return readable
    return { ...readable, where: both(readable.where, listable(own, type).where) }
  }

  async #create(operation: OperationOf<'create'>): Promise<unknown> {
    const { where, check } = this.decided.own
    if (where === undefined && check === undefined) return this.#perform(operation, {})
    return this.unrestricted.transaction(
      async (inside) => {
        const created = (await this.#perform(operation, { inside })) as object
        await this.#mustHold([created], inside)
        return created
      },
      { context: this.#context },
    )
  }

  async #readable(): Promise<Restriction> {
    const readable = this.kind === 'reads' ? this.decided.own : await this.decided.readable()
    if (readable.isNone) throw this.#missing()
    return readable
  }

  async #write(operation: Write): Promise<unknown> {
    const readable = await this.decided.readable()
    if (readable.isNone) throw this.#missing()
    const { own } = this.decided
    const reach = both(readable.where, own.where)
    const isTested = readable.test !== undefined || own.test !== undefined
    const isChecked = (own.check !== undefined || own.where !== undefined) && WRITTEN.has(operation.kind)
    const isDeleted = operation.kind === 'undelete'
    const keys = keysOf(operation)
    const run = async (inside: RequestContext): Promise<unknown> => {
      if (isTested) await this.#lock(keys, isDeleted, inside, readable, reach)
      const result = await this.#perform(operation, { inside, reach }).catch(async (error: unknown) => {
        if (!(error instanceof ErrNotFound) || reach === undefined) throw error
        throw await this.#missOf(keys, isDeleted, inside, readable, reach, error)
      })
      if (isChecked) await this.#mustHold(Array.isArray(result) ? result : [result], inside)
      return result
    }
    if (!isTested && !isChecked) return run(this.#context)
    return this.unrestricted.transaction(run, { context: this.#context })
  }

  /** Writes the rows that match a filter. As in a list, rows that the caller may not write do not match. */
  async #writeMany(operation: Many): Promise<unknown> {
    const { type } = this.unrestricted.model
    const readable = listable(await this.decided.readable(), type)
    const own = listable(this.decided.own, type)
    if (readable.isNone) return 0
    const isChecked = operation.kind === 'updateMany' && (own.check ?? own.where) !== undefined
    const isByKeys = isChecked || readable.test !== undefined || own.test !== undefined
    const byKeys: Many['byKeys'] = (batch) =>
      new RestrictedOperation(batch, this.unrestricted, this.decided, this.kind).run()
    const reach = both(readable.where, own.where)
    return this.#perform({ ...operation, ...(isByKeys && { byKeys }) }, { reach })
  }

  /** Locks the rows and checks each of them. */
  async #lock(
    keys: readonly unknown[],
    isDeleted: boolean,
    inside: RequestContext,
    readable: Restriction,
    reach: Filter | undefined,
  ): Promise<void> {
    const stored = await this.#stored(isDeleted, keys, inside, reach, forWrite)
    // A row that became accessible only after this read was not checked, so the write must not reach it.
    if (stored === undefined)
      throw await this.#missOf(keys, isDeleted, inside, readable, reach, new ErrNotFound())
    await this.#mustPass(stored, readable.test)
    if (!(await allPass(stored, this.decided.own.test))) throw this.#denied()
  }

  /**
   * Returns the error for rows that were not found. The error depends on whether the caller may know that the
   * rows exist.
   */
  async #missOf(
    keys: readonly unknown[],
    isDeleted: boolean,
    inside: RequestContext,
    readable: Restriction,
    reach: Filter | undefined,
    error: ErrNotFound,
  ): Promise<Error> {
    const seen = await this.#stored(isDeleted, keys, inside, readable.where)
    if (seen === undefined) return this.#missing()
    if (!(await allPass(seen, readable.test))) return this.#missing()
    // The rows are accessible, so the error concerns something else.
    return (await this.#stored(isDeleted, keys, inside, reach)) === undefined ? this.#denied() : error
  }

  /** Returns all of the entities, or undefined. An invalid key is not looked up. */
  async #stored(
    isDeleted: boolean,
    keys: readonly unknown[],
    context: RequestContext,
    where: Filter | undefined,
    more: object = {},
  ): Promise<object[] | undefined> {
    const { model } = this.unrestricted
    const reach = both(this.#where, where)
    const { maxBytes } = (this.operation.options ?? {}) as BatchGetOptions
    const options = {
      ...more,
      context,
      ...(reach !== undefined && { where: reach }),
      ...(maxBytes !== undefined && { maxBytes }),
    }
    try {
      if (!isDeleted)
        return await this.unrestricted.perform({ kind: 'batchGet', keys: [...new Set(keys)], options })
      const list = (page: object, how: object) =>
        this.unrestricted.perform({ kind: 'list', list: page, options: how })
      const entity = await deletedEntity({ model, list }, keys[0] as string, options)
      return entity && [entity]
    } catch (error) {
      if (error instanceof ErrNotFound) return undefined
      throw error
    }
  }

  /** Checks that the caller may write the result. */
  async #mustHold(entities: readonly object[], inside: RequestContext): Promise<void> {
    const { where, check } = this.decided.own
    if (check !== undefined) {
      if (!(await allPass(entities, check))) throw this.#denied('check')
      return
    }
    const { keys } = this.unrestricted.model
    const written = entities.map((entity) => keys.ofEntity(entity))
    const held = await this.unrestricted
      .perform({ kind: 'batchGet', keys: written, options: { context: inside, ...(where && { where }) } })
      .catch((error: unknown) => {
        if (!(error instanceof ErrNotFound)) throw error
      })
    if (held === undefined) throw this.#denied('check')
  }

  async #mustPass(entities: readonly object[], test: Restriction['test']): Promise<void> {
    if (!(await allPass(entities, test))) throw this.#missing()
  }

  /** Runs the operation itself. A modify consists of other operations, to which the same decision applies. */
  async #perform(
    operation: DecidedOperation,
    {
      inside = this.#context,
      reach,
    }: { readonly inside?: RequestContext; readonly reach?: Filter | undefined },
  ): Promise<unknown> {
    const where = both(this.#where, reach)
    const context = operation.kind === 'modify' ? inside.with({ access: this.#given.access }) : inside
    const options: OperationOptions = { ...operation.options, context, ...(where !== undefined && { where }) }
    return this.unrestricted.perform({ ...operation, options } as Operation)
  }

  #missing(): ErrNotFound {
    this.decided.explain(MISSING)
    return new ErrNotFound()
  }

  #denied(by: 'where' | 'check' = 'where'): PermissionDenied {
    this.decided.explain(
      by === 'where'
        ? 'the caller may get the row, but it is not among those that this call may change'
        : 'the row as it would be written is not among those that this call may write',
    )
    return new PermissionDenied()
  }
}

const keysOf = (operation: Read | Write): readonly unknown[] =>
  'key' in operation
    ? [operation.key]
    : 'keys' in operation
      ? operation.keys
      : 'items' in operation
        ? operation.items.map(({ key }) => key)
        : []

/** Operations whose result may be a row that the caller can no longer access. */
const WRITTEN: ReadonlySet<Write['kind']> = new Set(['update', 'modify', 'batchUpdate'])

export const MISSING = 'no row with this key is among those that the caller may get'
