import { type AshlarError, ResourceExhausted } from '../errors.js'
import { networkOf } from '../text/network-of.js'

/** The delay that a rejected caller should wait. */
export const RETRY_AFTER_MS = 1_000

/** A request of an authenticated call. Only `UnfinishedBytes` writes `owner`. */
export interface UnfinishedRequest {
  readonly address: string
  held: number
  /** Whose it is, while it is not complete. */
  owner: Owner | undefined
  refuse(reason: AshlarError): void
}

/** The unfinished requests of one tenant, or of one network without a tenant. */
export interface Owner {
  readonly name: string
  held: number
  requests: number
}

/**
 * The bytes of the messages that authenticated calls have sent in part, on all listeners of a server, by
 * tenant. A request that exceeds the limit of its tenant is rejected.
 */
export class UnfinishedBytes {
  readonly #owners = new Map<string, Owner>()

  /**
   * @param limit - in bytes, of one tenant. A call without a tenant counts for its network.
   * @param onFull - called for each request that is rejected.
   */
  constructor(
    private readonly limit: number,
    private readonly onFull: () => void = () => {},
  ) {}

  /** Counts a request for a tenant from now on. */
  enter(request: UnfinishedRequest, tenant: string, bytes: number): void {
    const name = tenant === '' ? `network ${networkOf(`${request.address}:0`)}` : `tenant ${tenant}`
    let owner = this.#owners.get(name)
    if (owner === undefined) this.#owners.set(name, (owner = { name, held: 0, requests: 0 }))
    owner.requests++
    request.owner = owner
    this.hold(request, owner, bytes)
  }

  /** Notes the bytes that a request holds now. It may be rejected. */
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

  /** The request no longer counts: it is complete, or its call is over. */
  leave(request: UnfinishedRequest, owner: Owner): void {
    owner.held -= request.held
    request.held = 0
    request.owner = undefined
    if (--owner.requests === 0) this.#owners.delete(owner.name)
  }
}
