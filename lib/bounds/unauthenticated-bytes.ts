import { type AshlarError, ResourceExhausted } from '../errors.js'
import { networkOf } from '../text/network-of.js'
import { type Owner, RETRY_AFTER_MS, UnfinishedBytes } from './unfinished-bytes.js'

/** The bytes of a request that are read, and decoded at most, before authentication. */
export const EARLY_BYTES = 64 * 1024

/**
 * The memory of an HTTP/2 request besides its body, in bytes: a connection has up to 1,000 at a time, and
 * small requests would count as nothing.
 */
export const STREAM_BYTES = 8 * 1024

/**
 * A request on its way in. Only `UnauthenticatedBytes` and `UnfinishedBytes` write what is not read-only, but
 * for `isFinished`.
 */
export abstract class HeldRequest {
  /** True if its call is authenticated, or over: it no longer counts. */
  isAuthenticated = false
  /** True if its call is authenticated or authorized just now, so that it is not refused for others. */
  isBeingDecided = false
  /** True if all of it has come. */
  isFinished = false
  /** The counted bytes of the request. */
  held = 0
  /** Of them, the bytes that belong to its call rather than to a message. */
  besides = 0
  /** True if it is counted at the end of a turn of the event loop, or was. */
  isDue = false
  /** Whose it is; undefined while it holds nothing. */
  holder: Holder | undefined = undefined
  /** Whose it is once its call is authenticated, until all of it has come. */
  owner: Owner | undefined = undefined

  /**
   * @param unauthenticated - where it counts.
   * @param address - of its caller.
   */
  constructor(
    readonly unauthenticated: UnauthenticatedBytes,
    readonly address: string,
  ) {}

  /** Has {@link UnauthenticatedBytes.hold} count what it holds now. */
  abstract count(): void

  /** Ends the call, and drops the bytes. */
  abstract refuse(reason: AshlarError): void
}

/** All that comes from one network. */
interface Holder {
  readonly network: string
  held: number
  requests: number
  /** Its requests that may be refused, by the time since when. */
  readonly refusable: Set<HeldRequest>
}

/**
 * The bytes of all requests whose calls are not authenticated yet, on all listeners of a server. If they
 * exceed the limit, a request of the network that holds most is rejected: the one that has held bytes for
 * longest, because it most likely never ends. A request that is being authenticated or authorized is rejected
 * only if it needs more itself.
 */
export class UnauthenticatedBytes {
  #held = 0
  #due: HeldRequest[] = []
  readonly #holders = new Map<string, Holder>()

  /**
   * @param limit - in bytes.
   * @param onFull - called for each request that is refused.
   * @param unfinished - counts what the requests of authenticated calls hold until they are complete.
   */
  constructor(
    private readonly limit: number,
    private readonly onFull: () => void = () => {},
    private readonly unfinished = new UnfinishedBytes(Number.POSITIVE_INFINITY),
  ) {}

  /** The bytes that are held now. */
  get held(): number {
    return this.#held
  }

  /**
   * Counts a small request at the end of this turn of the event loop. Nearly all of them are complete and
   * authenticated by then, and are never counted.
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
   * Notes what a request holds now. It may be refused inside, and so may others.
   * @param besides - of the bytes, those that belong to its call rather than to a message.
   */
  hold(request: HeldRequest, bytes: number, besides = 0): void {
    // Those that came before it have held bytes for longer.
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
   * The request's bytes no longer count here: its call is authenticated, or over.
   * @param tenant - of an authenticated call, which counts for it until all of the request has come.
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

  /** All of the request has come. */
  finish(request: HeldRequest): void {
    request.isFinished = true
    if (request.owner !== undefined) this.unfinished.leave(request, request.owner)
  }

  /** Its call is authenticated and authorized from now on, without waiting for its client. */
  deciding(request: HeldRequest): void {
    if (request.isBeingDecided) return
    request.holder?.refusable.delete(request)
    request.isBeingDecided = true
  }

  /** That is done, or waits for its client. */
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
