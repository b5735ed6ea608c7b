import { AsyncResource } from 'node:async_hooks'
import { BoundedCache } from '../../bounded-cache.js'
import { Internal, Unavailable } from '../../errors.js'
import { cancellation } from '../engines/errors/cancellation.js'
import type { Database, Result, Row, RunOptions, Statement } from '../engines/executor/executor.js'
import { CallQueue, type Slot, type WaitingCall } from './call-queue.js'
import type { TableRules } from './table-rules.js'

/** What a call looks for: a value, in the rows of one tenant. */
export interface Sought {
  readonly value: string
  /** Undefined where the rows have no tenants, or the value is looked for in all of them. */
  readonly tenant: string | undefined
}

/** A read of one row, in both of its forms. */
export interface MergeableRead<R> {
  /** For messages: the resource, and what is looked for. */
  readonly name: string
  /** In a statement of its own. */
  alone(sought: Sought, run: RunOptions): Promise<R | undefined>
  /** Of many calls: the values by call, the tenants by call. Its rows begin with the number of the call, from 1. */
  readonly statement: Statement
  /** What the row, whose first column is that number, holds of {@link Sought}. */
  soughtIn(result: R): Sought
  read(row: Row): R
}

interface Call<R> extends WaitingCall {
  readonly sought: Sought
  readonly run: RunOptions
  readonly resolve: (result: R | undefined) => void
  readonly reject: (error: unknown) => void
  readonly leave: () => void
  /** The statement that carries it, with others. */
  statement: Carrying | undefined
  hasLeft: boolean
}

/** A statement with several calls, which is cancelled when all of them have left. */
interface Carrying {
  readonly cancel: AbortController
  remaining: number
}

/** How long calls of a tenant go out alone after one of them has failed a statement of several. */
const APART_MS = 1000
const MOST_APART = 1000

/** Statements of several calls run in the context of none of them. */
const OUTSIDE = new AsyncResource('ASHLAR_MERGED_CALLS')

/** Reads single rows, each in its own statement, or with others while many are in flight. */
export class MergedRead<R> {
  readonly #queue: CallQueue<Call<R>>
  /** Tenants whose calls go out alone, and until when. */
  readonly #apart = new BoundedCache<string | undefined, number>(MOST_APART)

  constructor(
    private readonly database: Database,
    readonly read: MergeableRead<R>,
    private readonly rules: TableRules,
  ) {
    this.#queue = new CallQueue(
      () => database.connections,
      (calls) => OUTSIDE.runInAsyncScope(() => this.#send(calls)),
    )
  }

  /** Undefined where no row is found. */
  run(sought: Sought, run: RunOptions): Promise<R | undefined> {
    const slot = this.#queue.enter()
    if (slot !== undefined) return this.#atOnce(slot, sought, run)
    const group = this.#isApart(sought.tenant) ? undefined : this.rules.groupOf(sought.tenant)
    return group === undefined ? this.read.alone(sought, run) : this.#wait(group, sought, run)
  }

  /** Whether a statement of one call does. */
  isSole(calls: readonly unknown[]): boolean {
    return calls.length === 1
  }

  async #atOnce(slot: Slot, sought: Sought, run: RunOptions): Promise<R | undefined> {
    let calls: number | undefined
    try {
      const result = await this.read.alone(sought, run)
      calls = 1
      return result
    } finally {
      this.#queue.leave(slot, calls)
    }
  }

  #wait(group: string, sought: Sought, run: RunOptions): Promise<R | undefined> {
    return new Promise((resolve, reject) => {
      const { signal } = run
      if (signal?.aborted === true) return reject(cancellation(signal))
      const bytes = Buffer.byteLength(sought.value) + Buffer.byteLength(sought.tenant ?? '')
      const leave = () => this.#left(call)
      const call: Call<R> = {
        ...{ group, bytes, sought, run, resolve, reject, leave },
        ...{ statement: undefined, hasLeft: false },
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#queue.wait(call)
    })
  }

  /** Its time is over, or its client is gone. */
  #left(call: Call<R>): void {
    const { statement } = call
    call.hasLeft = true
    call.reject(cancellation(call.run.signal))
    if (statement === undefined) this.#queue.remove(call)
    else if (--statement.remaining === 0) statement.cancel.abort()
  }

  /** Whether the statement has succeeded. */
  async #send(calls: readonly Call<R>[]): Promise<boolean> {
    const [first] = calls
    if (first !== undefined && this.isSole(calls)) return this.#again(first)
    const statement: Carrying = { cancel: new AbortController(), remaining: calls.length }
    for (const call of calls) call.statement = statement
    let results: readonly (R | undefined)[]
    try {
      results = this.#resultsOf(calls, await this.#together(calls, statement))
    } catch (error) {
      await this.#failed(calls, error)
      return false
    }
    for (const [i, call] of calls.entries()) this.#settle(call, () => call.resolve(results[i]))
    return true
  }

  #together(calls: readonly Call<R>[], { cancel }: Carrying): Promise<Result> {
    const values: string[][] = [calls.map(({ sought }) => sought.value)]
    if (calls[0]?.sought.tenant !== undefined) values.push(calls.map(({ sought }) => sought.tenant as string))
    return this.database.run(this.read.statement, values, { signal: cancel.signal, calls: calls.length })
  }

  /**
   * The row of each call. Nobody sees a row of the statement before each of them is known to be what its call asked for.
   * @throws WrongRow
   */
  #resultsOf(calls: readonly Call<R>[], { rows }: Result): readonly (R | undefined)[] {
    const results = Array<R | undefined>(calls.length).fill(undefined)
    for (const row of rows) {
      const index = Number(row[0]) - 1
      const call = calls[index]
      if (call === undefined || results[index] !== undefined) throw new WrongRow(this.read.name)
      const result = this.read.read(row)
      const { value, tenant } = this.read.soughtIn(result)
      if (value !== call.sought.value || tenant !== call.sought.tenant) throw new WrongRow(this.read.name)
      results[index] = result
    }
    return results
  }

  /** After a lost connection nothing runs again. Any other failure may be that of one call, so each runs again alone. */
  async #failed(calls: readonly Call<R>[], error: unknown): Promise<void> {
    const remaining = calls.filter((call) => !call.hasLeft)
    if (error instanceof WrongRow || error instanceof Unavailable) {
      for (const call of remaining) this.#settle(call, () => call.reject(error))
      return
    }
    const succeeded = await Promise.all(remaining.map((call) => this.#again(call)))
    const failed = remaining.filter((_, i) => succeeded[i] === false)
    for (const call of failed.length > 0 ? failed : remaining)
      this.#apart.set(call.sought.tenant, performance.now() + APART_MS)
  }

  /** In a statement of its own. Whether that has succeeded. */
  async #again(call: Call<R>): Promise<boolean> {
    call.run.signal?.removeEventListener('abort', call.leave)
    try {
      call.resolve(await this.read.alone(call.sought, call.run))
      return true
    } catch (error) {
      call.reject(error)
      return false
    }
  }

  #settle(call: Call<R>, how: () => void): void {
    call.run.signal?.removeEventListener('abort', call.leave)
    how()
  }

  #isApart(tenant: string | undefined): boolean {
    const until = this.#apart.get(tenant)
    return until !== undefined && performance.now() < until
  }
}

/** The database returned a row that no call of the statement asked for. */
class WrongRow extends Internal {
  constructor(read: string) {
    super(`${read}: a statement of several calls returned a row that its call did not ask for`)
  }
}
