import type { CallEnd } from '../../../call-end.js'
import { RequestContext } from '../../../context.js'
import { Unavailable } from '../../../errors.js'
import { cancellation } from '../errors/cancellation.js'
import { NO_TENANT } from './tenant-turns.js'

/** The number of parts of the maximum wait. If the process is blocked, only one part elapses. */
const PARTS = 4

/** A tenant's place among the waiting callers. */
interface Place {
  readonly tenant: string
  /** The number of the round. In each round, every tenant has at most one turn. */
  readonly round: number
}

interface Waiter extends Place {
  readonly alone: boolean
  /** The first part of which the caller waits for the whole. */
  readonly from: number
  readonly admit: () => void
  readonly refuse: (error: Error) => void
}

/**
 * Grants turns on a resource, either to several concurrent statements or to one transaction. Tenants take
 * turns, so that the calls of one tenant do not delay those of all others. Within a round, turns are granted
 * in order of arrival, so that neither statements nor transactions starve.
 */
export class Turns {
  /** The waiting callers, by round and arrival. */
  #waiting: Waiter[] = []
  /** The round of the last caller that had to wait. */
  #round = 0
  /** The last round in which a tenant has a waiting caller. */
  readonly #rounds = new Map<string, number>()
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
    if (this.#waiting.length === 0 && this.#takes(alone)) return undefined
    return this.#wait(alone, this.#nextOf(context ?? RequestContext.current()), signal)
  }

  /** Waits for a turn behind all callers that wait already. */
  enterLast(): Promise<void> | undefined {
    if (this.#closed) return Promise.reject(closed())
    if (this.#waiting.length === 0 && this.#takes(true)) return undefined
    return this.#wait(true, { tenant: NO_TENANT, round: this.#waiting.at(-1)?.round ?? this.#round })
  }

  #wait(alone: boolean, place: Place, signal?: CallEnd): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        ...place,
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
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        this.#left(waiter)
        waiter.refuse(cancellation(signal))
        this.#next()
      }
      if (signal?.aborted === true) {
        this.#left(place)
        return reject(cancellation(signal))
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.splice(this.#indexOf(place.round), 0, waiter)
      this.#watch()
    })
  }

  /** Returns the next place of the context's tenant. System calls share the places of calls without one. */
  #nextOf({ system, tenant = NO_TENANT }: RequestContext): Place {
    const own = system === undefined ? tenant : NO_TENANT
    const round = Math.max(this.#round, this.#rounds.get(own) ?? 0) + 1
    this.#rounds.set(own, round)
    return { tenant: own, round }
  }

  /** Returns the index behind all waiting callers of the round. */
  #indexOf(round: number): number {
    let [from, to] = [0, this.#waiting.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#waiting[middle] as Waiter).round <= round) from = middle + 1
      else to = middle
    }
    return from
  }

  #left({ tenant, round }: Place): void {
    if (this.#rounds.get(tenant) === round) this.#rounds.delete(tenant)
  }

  /** Ends a turn. */
  readonly leave = (): void => {
    this.#inside--
    this.#alone = false
    this.#still = this.#begun
    if (this.#waiting.length > 0) this.#next()
  }

  /** Rejects all waiting and future callers. */
  close(): void {
    this.#closed = true
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(closed())
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
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (!this.#takes(first.alone)) return
      this.#waiting.shift()
      this.#left(first)
      this.#round = first.round
      first.admit()
    }
    this.#timer?.unref()
  }

  /** The number of the part that begins next. */
  get #begun(): number {
    return this.#timer === undefined ? this.#passed : this.#passed + 1
  }

  /** Starts one timer for all waiting callers. */
  #watch(): void {
    if (this.#waiting.length === 0) return
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
    const isLate = ({ from }: Waiter): boolean => this.#passed - from >= PARTS
    const late = this.#waiting.filter(isLate)
    this.#waiting = this.#waiting.filter((waiter) => !isLate(waiter))
    for (const waiter of late) {
      this.#left(waiter)
      waiter.refuse(
        new Unavailable(`the database was busy with another transaction for ${this.timeoutMs} ms: try again`),
      )
    }
    this.#next()
  }
}

const closed = () => new Unavailable('the database is closed')
