import { type AshlarError, ResourceExhausted } from '../errors.js'
import { networkOf } from '../text/network-of.js'
import { type Owner, RETRY_AFTER_MS, UnfinishedBytes } from './unfinished-bytes.js'

/** The maximum number of bytes of a request that are read and decoded before authentication. */
export const EARLY_BYTES = 64 * 1024

/**
 * The memory of an HTTP/2 request apart from its body, in bytes. A connection may have 1,000 requests, so
 * small ones must not count as zero.
 */
export const STREAM_BYTES = 8 * 1024

/**
 * A request that is being received. Only `UnauthenticatedBytes` and `UnfinishedBytes` write its mutable
 * fields, except `isFinished`.
 */
export abstract class HeldRequest {
  /** True if its call is authenticated or has ended, so that it no longer counts. */
  isAuthenticated = false
  /**
   * True while its call is being authenticated or authorized, so that it is not rejected in favor of others.
   */
  isBeingDecided = false
  /** True if all of it has arrived. */
  isFinished = false
  /** The counted bytes of the request. */
  held = 0
  /** The part of `held` that belongs to the call rather than to a message. */
  besides = 0
  /** True if it is, or was, scheduled to be counted at the end of a turn of the event loop. */
  isDue = false
  /** The network that it counts for; undefined while it holds nothing. */
  holder: Holder | undefined = undefined
  /** The tenant or network that it counts for after authentication, until all of it has arrived. */
  owner: Owner | undefined = undefined

  /**
   * @param unauthenticated - counts the request.
   * @param address - the address of its caller.
   */
  constructor(
    readonly unauthenticated: UnauthenticatedBytes,
    readonly address: string,
  ) {}

  /** Reports its current size to {@link UnauthenticatedBytes.hold}. */
  abstract count(): void

  /** Ends the call and discards the bytes. */
  abstract refuse(reason: AshlarError): void
}

/** The unauthenticated requests of one network. */
interface Holder {
  readonly network: string
  held: number
  requests: number
  /** The requests that may be rejected, ordered by the time since which they hold bytes. */
  readonly refusable: Set<HeldRequest>
}

/**
 * Counts the bytes of all requests whose calls are not authenticated yet, on all listeners of a server. If
 * they exceed the limit, a request of the network that holds the most is rejected: the one that has held
 * bytes for the longest time, because it most likely never ends. A request that is being authenticated or
 * authorized is rejected only if it needs more bytes itself.
 */
export class UnauthenticatedBytes {
  #held = 0
  #due: HeldRequest[] = []
  readonly #holders = new Map<string, Holder>()

  /**
   * @param limit - in bytes.
   * @param onFull - called for each rejected request.
   * @param unfinished - counts requests of authenticated calls until they are complete.
   */
  constructor(
    private readonly limit: number,
    private readonly onFull: () => void = () => {},
    private readonly unfinished = new UnfinishedBytes(Number.POSITIVE_INFINITY),
  ) {}

  /** The current number of bytes. */
  get held(): number {
    return this.#held
  }

  /**
   * Schedules a small request to be counted at the end of this turn of the event loop. Almost all are
   * complete and authenticated by then, and are never counted.
   */
  holdSoon(request: HeldRequest): void {
    if (request.holder !== undefined) return request.count()
    if (request.isDue) return
    request.isDue = true
    if (this.#due.push(request) === 1) setImmediate(this.#countDue)
  }

  readonly #countDue = (): void => {
    const due = this.#due
    this.#due = []
    for (const request of due) if (!request.isAuthenticated) request.count()
  }

  /**
   * Updates the size of a request. This call may reject it or others.
   * @param besides - the part of the bytes that belongs to the call rather than to a message.
   */
  hold(request: HeldRequest, bytes: number, besides = 0): void {
    // Requests that came before it have held bytes for longer.
    if (request.holder === undefined && this.#due.length > 0) this.#countDue()
    if (request.isAuthenticated) {
      if (request.owner !== undefined) this.unfinished.hold(request, request.owner, bytes - besides)
      return
    }
    request.besides = besides
    if (bytes === 0) {
      if (request.holder !== undefined) this.#leave(request, request.holder)
      return
    }
    const holder = request.holder ?? this.#enter(request)
    const more = bytes - request.held
    this.#held += more
    holder.held += more
    request.held = bytes
    while (this.#held > this.limit) {
      const refused = this.#oldestOfMost() ?? request
      if (refused.held === 0) return
      this.#refuse(refused)
    }
  }

  /**
   * Stops counting a request here, because its call is authenticated or has ended.
   * @param tenant - the tenant of an authenticated call, for which the request counts until it is complete.
   */
  authenticated(request: HeldRequest, tenant?: string): void {
    const isOver = tenant === undefined || request.isFinished
    if (request.isAuthenticated) {
      if (isOver && request.owner !== undefined) this.unfinished.leave(request, request.owner)
      return
    }
    const ofMessages = request.held - request.besides
    const isCounted = request.holder !== undefined
    request.isAuthenticated = true
    if (request.holder !== undefined) this.#leave(request, request.holder)
    if (isOver) return
    this.unfinished.enter(request, tenant, Math.max(0, ofMessages))
    if (!isCounted) request.count()
  }

  /** Records that all of the request has arrived. */
  finish(request: HeldRequest): void {
    request.isFinished = true
    if (request.owner !== undefined) this.unfinished.leave(request, request.owner)
  }

  /** Records that the call is being authenticated and authorized without waiting for its client. */
  deciding(request: HeldRequest): void {
    if (request.isBeingDecided) return
    request.holder?.refusable.delete(request)
    request.isBeingDecided = true
  }

  /** Records that the decision is complete, or waits for the client. */
  decided(request: HeldRequest): void {
    if (!request.isBeingDecided) return
    request.isBeingDecided = false
    request.holder?.refusable.add(request)
  }

  #enter(request: HeldRequest): Holder {
    const network = networkOf(`${request.address}:0`)
    let holder = this.#holders.get(network)
    if (holder === undefined) {
      holder = { network, held: 0, requests: 0, refusable: new Set() }
      this.#holders.set(network, holder)
    }
    holder.requests++
    request.holder = holder
    if (!request.isBeingDecided) holder.refusable.add(request)
    return holder
  }

  #leave(request: HeldRequest, holder: Holder): void {
    this.#held -= request.held
    holder.held -= request.held
    request.held = 0
    request.holder = undefined
    holder.refusable.delete(request)
    if (--holder.requests === 0) this.#holders.delete(holder.network)
  }

  #oldestOfMost(): HeldRequest | undefined {
    let most: Holder | undefined
    for (const holder of this.#holders.values())
      if (holder.refusable.size > 0 && holder.held > (most?.held ?? 0)) most = holder
    return most?.refusable.values().next().value
  }

  #refuse(request: HeldRequest): void {
    this.authenticated(request)
    this.onFull()
    request.refuse(
      new ResourceExhausted(`unauthenticated requests hold ${this.limit} bytes: retry later`, RETRY_AFTER_MS),
    )
  }
}
