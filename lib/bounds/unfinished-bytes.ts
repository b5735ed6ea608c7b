import { type AshlarError, ResourceExhausted } from '../errors.js'
import { networkOf } from '../text/network-of.js'

/** The retry delay that a rejected caller receives, in milliseconds. */
export const RETRY_AFTER_MS = 1_000

/** A request of an authenticated call. Only `UnfinishedBytes` writes `owner`. */
export interface UnfinishedRequest {
  readonly address: string
  held: number
  /** The tenant or network that it counts for while it is incomplete. */
  owner: Owner | undefined
  refuse(reason: AshlarError): void
}

/** The incomplete requests of one tenant, or of one network if there is no tenant. */
export interface Owner {
  readonly name: string
  held: number
  requests: number
}

/**
 * Counts the bytes of incomplete messages of authenticated calls by tenant, on all listeners of a server. A
 * request that exceeds its tenant's limit is rejected.
 */
export class UnfinishedBytes {
  readonly #owners = new Map<string, Owner>()

  /**
   * @param limit - in bytes, for one tenant. A call without a tenant counts for its network.
   * @param onFull - called for each rejected request.
   */
  constructor(
    private readonly limit: number,
    private readonly onFull: () => void = () => {},
  ) {}

  /** Starts counting a request for a tenant. */
  enter(request: UnfinishedRequest, tenant: string, bytes: number): void {
    const name = tenant === '' ? `network ${networkOf(`${request.address}:0`)}` : `tenant ${tenant}`
    let owner = this.#owners.get(name)
    if (owner === undefined) this.#owners.set(name, (owner = { name, held: 0, requests: 0 }))
    owner.requests++
    request.owner = owner
    this.hold(request, owner, bytes)
  }

  /** Updates the size of a request, which may be rejected. */
  hold(request: UnfinishedRequest, owner: Owner, bytes: number): void {
    owner.held += bytes - request.held
    request.held = bytes
    if (owner.held <= this.limit) return
    this.leave(request, owner)
    this.onFull()
    request.refuse(
      new ResourceExhausted(
        `unfinished requests of the ${owner.name.startsWith('tenant') ? 'tenant' : 'caller'} hold ${this.limit} bytes: retry later`,
        RETRY_AFTER_MS,
      ),
    )
  }

  /** Stops counting a request, because it is complete or its call has ended. */
  leave(request: UnfinishedRequest, owner: Owner): void {
    owner.held -= request.held
    request.held = 0
    request.owner = undefined
    if (--owner.requests === 0) this.#owners.delete(owner.name)
  }
}
