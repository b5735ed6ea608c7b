import type { CallEnd } from '../../../call-end.js'
import { RequestContext } from '../../../context.js'
import { Unavailable } from '../../../errors.js'
import { cancellation } from '../errors/cancellation.js'
import { NO_TENANT } from './tenant-turns.js'

/** The number of parts of the maximum wait. If the process is blocked, only one part elapses. */
const PARTS = 4

/** The key of the caller that waits behind all others. */
const LAST = Symbol('last')

interface Waiter {
  readonly alone: boolean
  /** The first part of which the caller waits for the whole. */
  readonly from: number
  readonly admit: () => void
  readonly refuse: (error: Error) => void
}

/**
 * Grants turns on a resource, either to several concurrent statements or to one transaction. Tenants take
 * turns, so that the calls of one tenant do not delay those of all others. Within a tenant, turns are granted
 * in order of arrival, so that neither statements nor transactions starve.
 */
export class Turns {
  /** The waiting callers by tenant, in order of arrival. The first tenant is served next. */
  readonly #waiting = new Map<string | symbol, Set<Waiter>>()
  #inside = 0
  #alone = false
  #closed = false
  #timer: NodeJS.Timeout | undefined
  /** The number of parts that have elapsed while callers waited. */
  #passed = 0
  /** The first part in which no turn ended. */
  #still = 0

  /**
   * @param timeoutMs - the maximum wait in milliseconds while no turn ends. While turns end, callers wait
   *   until their own deadline.
   * @param abreast - the maximum number of concurrent statements.
   */
  constructor(
    private readonly timeoutMs: number,
    private readonly abreast: number,
  ) {}

  /**
   * Waits for a turn. Returns undefined if the caller may proceed immediately.
   *
   * @param context - the caller's context. Default: the current one.
   * @throws Unavailable if no turn ends within the timeout.
   * @throws Cancelled, DeadlineExceeded
   */
  enter(alone: boolean, signal?: CallEnd, context?: RequestContext): Promise<void> | undefined {
    if (this.#closed) return Promise.reject(closed())
    if (this.#waiting.size === 0 && this.#takes(alone)) return undefined
    const { system, tenant = NO_TENANT } = context ?? RequestContext.current()
    return this.#wait(alone, system === undefined ? tenant : NO_TENANT, signal)
  }

  #wait(alone: boolean, tenant: string | symbol, signal?: CallEnd): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        alone,
        from: this.#begun,
        admit: () => {
          signal?.removeEventListener('abort', leave)
          resolve()
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', leave)
          reject(error)
        },
      }
      const leave = () => {
        if (!this.#remove(tenant, waiter)) return
        waiter.refuse(cancellation(signal))
        this.#next()
      }
      const waiters = this.#waiting.get(tenant) ?? new Set()
      this.#waiting.set(tenant, waiters.add(waiter))
      this.#watch()
      signal?.addEventListener('abort', leave, { once: true })
      if (signal?.aborted === true) leave()
    })
  }

  /** Returns false if the caller no longer waits. */
  #remove(tenant: string | symbol, waiter: Waiter): boolean {
    const waiters = this.#waiting.get(tenant)
    if (waiters?.delete(waiter) !== true) return false
    if (waiters.size === 0) this.#waiting.delete(tenant)
    return true
  }

  /** Ends a turn. */
  readonly leave = (): void => {
    this.#inside--
    this.#alone = false
    this.#still = this.#begun
    if (this.#waiting.size > 0) this.#next()
  }

  /**
   * Rejects future callers, and waits until the present ones have had their turns. Rejects those that are
   * left when no turn has ended within the timeout.
   */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    if (this.#waiting.size > 0 || !this.#takes(true)) await this.#wait(true, LAST).catch(() => {})
    for (const waiters of this.#waiting.values()) for (const { refuse } of waiters) refuse(closed())
    this.#waiting.clear()
    clearTimeout(this.#timer)
  }

  /** Takes a turn if one is free. */
  #takes(alone: boolean): boolean {
    const isFree = alone ? this.#inside === 0 : !this.#alone && this.#inside < this.abreast
    if (!isFree) return false
    this.#inside++
    this.#alone = alone
    return true
  }

  #next(): void {
    for (const [tenant, waiters] of this.#waiting) {
      const [first] = tenant === LAST && this.#waiting.size > 1 ? [] : waiters
      if (first !== undefined && !this.#takes(first.alone)) return
      this.#waiting.delete(tenant)
      if (first !== undefined) waiters.delete(first)
      if (waiters.size > 0) this.#waiting.set(tenant, waiters)
      first?.admit()
    }
    this.#timer?.unref()
  }

  /** The number of the part that begins next. */
  get #begun(): number {
    return this.#timer === undefined ? this.#passed : this.#passed + 1
  }

  /** Starts one timer for all waiting callers. */
  #watch(): void {
    if (this.#waiting.size === 0) return
    if (this.#timer !== undefined) {
      this.#timer.ref()
      return
    }
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#passed++
        if (this.#passed - this.#still >= PARTS) this.#refuseLate()
        this.#watch()
      },
      Math.max(1, this.timeoutMs / PARTS),
    )
  }

  #refuseLate(): void {
    for (const [tenant, waiters] of this.#waiting)
      for (const waiter of waiters) {
        if (this.#passed - waiter.from < PARTS) break
        this.#remove(tenant, waiter)
        waiter.refuse(
          new Unavailable(
            `the database was busy with another transaction for ${this.timeoutMs} ms: try again`,
          ),
        )
      }
    this.#next()
  }
}

const closed = () => new Unavailable('the database is closed')
