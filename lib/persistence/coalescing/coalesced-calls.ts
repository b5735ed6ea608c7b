import { AsyncResource } from 'node:async_hooks'
import { BoundedCache } from '../../bounded-cache.js'
import type { CallEnd } from '../../call-end.js'
import type { RequestContext } from '../../context.js'
import { Internal, Unavailable } from '../../errors.js'
import { byCodePoint } from '../../text/code-point-order.js'
import { holdersAround } from '../contract/open-transaction.js'
import { cancellation } from '../engines/errors/cancellation.js'
import type { Database, Result, Row, Statement } from '../engines/executor/executor.js'
import { NO_TENANT } from '../engines/executor/tenant-turns.js'
import type { SqlCall } from '../rows/row-call.js'
import { CallQueue, type Slot } from './call-queue.js'
import type { WaitingCall } from './waiting-calls.js'

/** Identifies the row that a call requests: a value, and the tenant if the lookup is limited to one. */
export interface Requested {
  readonly value: string
  /** Undefined if rows have no tenant, or if the lookup covers all tenants. */
  readonly tenant: string | undefined
}

/** An operation on one row that can run alone or as a part of a shared statement. */
export interface CoalescedOperation<S extends Requested, R> {
  /** The resource and the method, for messages. */
  readonly name: string
  /**
   * Runs the operation in its own statement. Failures reject the promise; the method itself does not throw.
   */
  alone(requested: S, call: SqlCall): Promise<R | undefined>
  /** Returns the group of the calls that may share a statement, or undefined if the call runs alone. */
  groupOf(tenant: string | undefined): string | undefined
  /**
   * Returns the shared statement. The first column of its rows is the number of the call, starting at 1. Only
   * called if calls have a group.
   */
  statement(): Statement
  /** Orders keys for writes. Default: string comparison. */
  readonly compare?: (a: string, b: string) => number
  /** Returns the values that a call contributes to the shared statement. */
  valuesOf(requested: S): readonly unknown[]
  /** Returns the parameters of the shared statement for the values of all calls. */
  bound(calls: readonly (readonly unknown[])[]): readonly unknown[]
  /** Returns the request that a result answers. It must equal the call's request. */
  requestedIn(result: R): Requested
  /**
   * Converts a row to the operation's result.
   *
   * @param row - a row of the shared statement, which begins with the number of the call.
   */
  read(row: Row): R
}

/** A call that waits for a shared statement. */
class Call<S extends Requested, R> implements WaitingCall {
  readonly bytes: number
  readonly tenant: string
  /** The shared statement that carries this call, once it is sent. */
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
    const { system, tenant = NO_TENANT } = sqlCall.context
    this.tenant = system === undefined ? tenant : NO_TENANT
    this.leave = () => left(this)
  }

  /** Rejects the call when it is cancelled or its deadline has passed. */
  readonly leave: () => void
}

/**
 * Cancels a shared statement when all of its calls have left. Creating one is faster than creating an
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

/** After a call fails a shared statement, calls of its tenant run alone for this time. */
const APART_MS = 1000
const MAX_APART = 1000

/** Shared statements run outside the async context of every call, because they belong to several calls. */
const OUTSIDE = new AsyncResource('ASHLAR_MERGED_CALLS')

/** Runs operations on single rows, alone or, when many are in flight, several in one statement. */
export abstract class CoalescedCalls<S extends Requested, R> {
  readonly #queue: CallQueue<Call<S, R>>
  /** Tenants whose calls run alone, with the time until which they do. */
  readonly #apart = new BoundedCache<string | undefined, number>(MAX_APART, 'separate_tenants')

  constructor(
    private readonly database: Database,
    readonly operation: CoalescedOperation<S, R>,
  ) {
    this.#queue = new CallQueue(
      () => database.connections,
      (calls) => OUTSIDE.runInAsyncScope(() => this.#send(calls)),
    )
  }

  /** Resolves to undefined if no row matches. */
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

  /** Returns true if there is only one call, so that its own statement is used instead of a shared one. */
  isSole(calls: readonly unknown[]): boolean {
    return calls.length === 1
  }

  /** True if the operation writes. Its calls are not run again after a statement has succeeded. */
  protected abstract readonly changesRows: boolean

  /** Returns an id for the row of a call. Calls with the same id never share a statement. */
  protected abstract rowOf(requested: S): string | undefined

  /** Returns the calls in the order in which the statement processes them. */
  protected abstract ordered<C extends { readonly requested: S }>(calls: readonly C[]): readonly C[]

  /** Handles a call for which the statement returned no row. */
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

  /** Resolves to true if the statement succeeded. */
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
   * Returns the result of each call. Checks every row against the request of its call before any is returned.
   *
   * @throws WrongRow if a row does not belong to its call.
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
   * Runs each call again alone, because one call may have caused the failure for all. After a lost
   * connection, rejects all calls instead.
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

  /** Runs a call in its own statement. Resolves to true if the statement succeeded. */
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

  /**
   * Returns false for a caller that holds a connection. While it waits here, the pool could not know that.
   */
  #mayWait({ tenant }: S): boolean {
    const until = this.#apart.get(tenant)
    const isApart = until !== undefined && performance.now() < until
    return !isApart && holdersAround(this.database).length === 0
  }
}

/** Coalesces reads of single rows. */
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
 * Coalesces writes of single rows. Shared statements do not wait for row locks. If a row is locked or does
 * not meet the conditions of its call, the call runs again alone and then waits or fails with the reason. A
 * shared statement writes each row at most once and locks rows in the order of their keys.
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

  /** Settles the call with the result of a second statement, for which only this call waits. */
  protected missed(_: () => void, again: () => Promise<boolean>): void {
    void again()
  }
}

/** Returns the context of calls that have the same tenant, or undefined if their tenants differ. */
function contextOf(calls: readonly Pick<Call<Requested, unknown>, 'sqlCall'>[]): RequestContext | undefined {
  const context = calls[0]?.sqlCall.context
  return calls.every(({ sqlCall }) => sqlCall.context.tenant === context?.tenant) ? context : undefined
}

/** Returns the approximate size of the values in bytes. */
function sizeOf(values: readonly unknown[]): number {
  let bytes = 0
  for (const value of values) bytes += bytesOf(value)
  return bytes
}

const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return value instanceof Uint8Array ? 2 * value.byteLength : 8
}

/** The database returned a row that no call of the statement requested. */
class WrongRow extends Internal {
  constructor(operation: string) {
    super(`${operation}: a statement for several calls returned a row that its call did not request`)
  }
}
