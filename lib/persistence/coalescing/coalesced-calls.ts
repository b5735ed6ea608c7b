import { AsyncResource } from 'node:async_hooks'
import { BoundedCache } from '../../bounded-cache.js'
import type { CallEnd } from '../../call-end.js'
import type { RequestContext } from '../../context.js'
import { Internal, Unavailable } from '../../errors.js'
import { byCodePoint } from '../../text/code-point-order.js'
import { holdersAround } from '../contract/open-transaction.js'
import { cancellation } from '../engines/errors/cancellation.js'
import type { Database, Result, Row, Statement } from '../engines/executor/executor.js'
import type { SqlCall } from '../rows/row-call.js'
import { CallQueue, type Slot } from './call-queue.js'
import type { WaitingCall } from './waiting-calls.js'

/** Which row a call asks for: by a value, in the rows of one tenant. */
export interface Requested {
  readonly value: string
  /** Undefined where the rows have no tenants, or the value is looked for in all of them. */
  readonly tenant: string | undefined
}

/** An operation on one row, in both of its forms. */
export interface Mergeable<S extends Requested, R> {
  /** For messages: the resource, and what is done. */
  readonly name: string
  /** In a statement of its own. A failure rejects the promise; none is thrown. */
  alone(requested: S, call: SqlCall): Promise<R | undefined>
  /** Calls of the same group may share a statement; undefined where the call goes out alone. */
  groupOf(tenant: string | undefined): string | undefined
  /**
   * Of many calls. Its rows begin with the number of the call, from 1. Asked for only where calls have a
   * group.
   */
  statement(): Statement
  /** Compares keys, for writes. Default: string comparison. */
  readonly compare?: (a: string, b: string) => number
  /** The values of a call that the statement uses. */
  valuesOf(requested: S): readonly unknown[]
  /** The parameters that hold the values of calls. */
  bound(calls: readonly (readonly unknown[])[]): readonly unknown[]
  /** By what the row of a result would be asked for. */
  requestedIn(result: R): Requested
  /** @param row - of the statement: its first column is the number of the call. */
  read(row: Row): R
}

/** A call that waits for a statement of several. */
class Call<S extends Requested, R> implements WaitingCall {
  readonly bytes: number
  /** The statement that carries it, with others. */
  statement: Carrying | undefined = undefined
  hasLeft = false

  constructor(
    readonly group: string,
    readonly row: string | undefined,
    readonly requested: S,
    readonly values: readonly unknown[],
    readonly sqlCall: SqlCall,
    readonly resolve: (result: R | undefined) => void,
    readonly reject: (error: unknown) => void,
    left: (call: Call<S, R>) => void,
  ) {
    this.bytes = sizeOf(values)
    this.leave = () => left(this)
  }

  /** Its time is over, or its client is gone. */
  readonly leave: () => void
}

/**
 * A statement with several calls, which is cancelled when all of them have left. It is cheaper than an
 * AbortSignal.
 */
class Carrying implements CallEnd {
  readonly #listeners = new Set<() => void>()
  #remaining: number

  constructor(calls: number) {
    this.#remaining = calls
  }

  get aborted(): boolean {
    return this.#remaining === 0
  }

  leave(): void {
    this.#remaining--
    if (this.aborted) for (const listener of this.#listeners) listener()
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
  }
}

/** The time calls of a tenant go out alone after one of them has failed a statement of several. */
const APART_MS = 1000
const MAX_APART = 1000

/** Coalesced statements run outside the async context of every call. */
const OUTSIDE = new AsyncResource('ASHLAR_MERGED_CALLS')

/** Sends operations on single rows, each in its own statement, or with others while many are in flight. */
export abstract class CoalescedCalls<S extends Requested, R> {
  readonly #queue: CallQueue<Call<S, R>>
  /** Tenants whose calls go out alone, and until when. */
  readonly #apart = new BoundedCache<string | undefined, number>(MAX_APART, 'separate_tenants')

  constructor(
    private readonly database: Database,
    readonly operation: Mergeable<S, R>,
  ) {
    this.#queue = new CallQueue(
      () => database.connections,
      (calls) => OUTSIDE.runInAsyncScope(() => this.#send(calls)),
    )
  }

  /** Undefined where no row is found. */
  run(requested: S, call: SqlCall): Promise<R | undefined> {
    const queue = this.#queue
    if (queue.passes()) {
      const running = this.operation.alone(requested, call)
      running.then(queue.completed, queue.completed)
      return running
    }
    const slot = queue.enter()
    if (slot !== undefined) return this.#atOnce(slot, requested, call)
    const group = this.#mayWait(requested) ? this.operation.groupOf(requested.tenant) : undefined
    return group === undefined ? this.operation.alone(requested, call) : this.#wait(group, requested, call)
  }

  /** True if a statement of one call does. */
  isSole(calls: readonly unknown[]): boolean {
    return calls.length === 1
  }

  /** True if rows are changed, so that nothing may run again once a statement has succeeded. */
  protected abstract readonly changesRows: boolean

  /** Calls for the same one never share a statement. */
  protected abstract rowOf(requested: S): string | undefined

  /** The calls in the order in which the statement takes them. */
  protected abstract ordered<C extends { readonly requested: S }>(calls: readonly C[]): readonly C[]

  /** The result of a statement contained no row for the call. */
  protected abstract missed(found: () => void, again: () => Promise<boolean>): void

  async #atOnce(slot: Slot, requested: S, call: SqlCall): Promise<R | undefined> {
    let calls: number | undefined
    try {
      const result = await this.operation.alone(requested, call)
      calls = 1
      return result
    } finally {
      this.#queue.leave(slot, calls)
    }
  }

  #wait(group: string, requested: S, sqlCall: SqlCall): Promise<R | undefined> {
    return new Promise((resolve, reject) => {
      const { signal } = sqlCall
      if (signal?.aborted === true) return reject(cancellation(signal))
      const values = this.operation.valuesOf(requested)
      const row = this.rowOf(requested)
      const call = new Call<S, R>(group, row, requested, values, sqlCall, resolve, reject, this.#left)
      signal?.addEventListener('abort', call.leave, { once: true })
      this.#queue.wait(call)
    })
  }

  readonly #left = (call: Call<S, R>): void => {
    const { statement } = call
    call.hasLeft = true
    call.reject(cancellation(call.sqlCall.signal))
    if (statement === undefined) this.#queue.remove(call)
    else statement.leave()
  }

  /** True if the statement has succeeded. */
  async #send(taken: readonly Call<S, R>[]): Promise<boolean> {
    const [first] = taken
    if (first !== undefined && this.isSole(taken)) return this.#again(first)
    const statement = new Carrying(taken.length)
    for (const call of taken) call.statement = statement
    let calls = taken
    let result: Result
    try {
      calls = this.ordered(taken)
      result = await this.#together(calls, statement)
    } catch (error) {
      await this.#failed(calls, error)
      return false
    }
    let results: readonly (R | undefined)[]
    try {
      results = this.#resultsOf(calls, result)
    } catch (error) {
      if (this.changesRows || error instanceof WrongRow) this.#reject(calls, error)
      else await this.#failed(calls, error)
      return false
    }
    for (const [i, call] of calls.entries()) this.#settle(call, results[i])
    return true
  }

  #together(calls: readonly Call<S, R>[], signal: CallEnd): Promise<Result> {
    const values = this.operation.bound(calls.map((call) => call.values))
    const context = contextOf(calls)
    const options = { signal, calls: calls.length, ...(context && { context }) }
    return this.database.run(this.operation.statement(), values, options)
  }

  /**
   * The row of each call. No row of the statement is returned before each is checked against the request of
   * its call.
   * @throws WrongRow
   */
  #resultsOf(calls: readonly Call<S, R>[], { rows }: Result): readonly (R | undefined)[] {
    const { operation } = this
    const results = Array<R | undefined>(calls.length).fill(undefined)
    for (const row of rows) {
      const index = Number(row[0]) - 1
      const call = calls[index]
      if (call === undefined || results[index] !== undefined) throw new WrongRow(operation.name)
      const result = operation.read(row)
      const { value, tenant } = operation.requestedIn(result)
      if (value !== call.requested.value || tenant !== call.requested.tenant)
        throw new WrongRow(operation.name)
      results[index] = result
    }
    return results
  }

  #settle(call: Call<S, R>, result: R | undefined): void {
    call.sqlCall.signal?.removeEventListener('abort', call.leave)
    if (result !== undefined) call.resolve(result)
    else if (!call.hasLeft)
      this.missed(
        () => call.resolve(undefined),
        () => this.#again(call),
      )
  }

  /**
   * After a lost connection nothing runs again. Any other failure may be caused by one call, so each runs
   * again alone.
   */
  async #failed(calls: readonly Call<S, R>[], error: unknown): Promise<void> {
    if (error instanceof Unavailable) return this.#reject(calls, error)
    const remaining = calls.filter((call) => !call.hasLeft)
    const succeeded = await Promise.all(remaining.map((call) => this.#again(call)))
    const failed = remaining.filter((_, i) => succeeded[i] === false)
    for (const call of failed.length > 0 ? failed : remaining)
      this.#apart.set(call.requested.tenant, performance.now() + APART_MS)
  }

  #reject(calls: readonly Call<S, R>[], error: unknown): void {
    for (const call of calls) {
      call.sqlCall.signal?.removeEventListener('abort', call.leave)
      call.reject(error)
    }
  }

  /** In a statement of its own. Whether that has succeeded. */
  async #again(call: Call<S, R>): Promise<boolean> {
    call.sqlCall.signal?.removeEventListener('abort', call.leave)
    try {
      call.resolve(await this.operation.alone(call.requested, call.sqlCall))
      return true
    } catch (error) {
      call.reject(error)
      return false
    }
  }

  /** It would be unknown that the caller of a call waiting here holds a connection. */
  #mayWait({ tenant }: S): boolean {
    const until = this.#apart.get(tenant)
    const isApart = until !== undefined && performance.now() < until
    return !isApart && holdersAround(this.database).length === 0
  }
}

/** Reads of single rows. */
export class CoalescedReads<R> extends CoalescedCalls<Requested, R> {
  protected readonly changesRows = false

  protected rowOf(): string | undefined {
    return undefined
  }

  protected ordered<C>(calls: readonly C[]): readonly C[] {
    return calls
  }

  protected missed(found: () => void): void {
    found()
  }
}

/**
 * Writes of single rows. Their statement waits for no row lock: a call whose row is locked, or is not as the
 * call wants it, runs again alone, and waits or learns why. A statement writes a row once, and locks rows in
 * the order of their keys.
 */
export class CoalescedWrites<S extends Requested, R> extends CoalescedCalls<S, R> {
  protected readonly changesRows = true

  protected rowOf({ value, tenant = '' }: S): string {
    return `${tenant}\0${value}`
  }

  protected ordered<C extends { readonly requested: S }>(calls: readonly C[]): readonly C[] {
    const { compare = byCodePoint } = this.operation
    return [...calls].sort(
      ({ requested: a }, { requested: b }) =>
        compare(a.value, b.value) || byCodePoint(a.tenant ?? '', b.tenant ?? ''),
    )
  }

  /** Only its caller waits for it. */
  protected missed(_: () => void, again: () => Promise<boolean>): void {
    void again()
  }
}

/** Of calls of one tenant. Undefined if they are of several. */
function contextOf(calls: readonly Pick<Call<Requested, unknown>, 'sqlCall'>[]): RequestContext | undefined {
  const context = calls[0]?.sqlCall.context
  return calls.every(({ sqlCall }) => sqlCall.context.tenant === context?.tenant) ? context : undefined
}

/** The approximate size of values in a statement. */
function sizeOf(values: readonly unknown[]): number {
  let bytes = 0
  for (const value of values) bytes += bytesOf(value)
  return bytes
}

const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return value instanceof Uint8Array ? 2 * value.byteLength : 8
}

/** The database returned a row that no call of the statement asked for. */
class WrongRow extends Internal {
  constructor(operation: string) {
    super(`${operation}: a statement for several calls returned a row that its call did not request`)
  }
}
