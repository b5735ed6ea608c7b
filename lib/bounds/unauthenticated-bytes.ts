import { type AshlarError, ResourceExhausted } from '../errors.js'

/** Bytes of a request that are read before its call is let in, and at most inflated and decoded. */
export const EARLY_BYTES = 64 * 1024

/** What a refused caller is told to wait. */
const RETRY_AFTER_MS = 1_000

/** A request on its way in. Only `UnauthenticatedBytes` writes its fields. */
export interface HeldRequest {
  /** Where it counts. */
  readonly unauthenticated: UnauthenticatedBytes
  /** Whether its call is let in, or over: it counts nowhere any more. */
  isLetIn: boolean
  /** What it holds, in bytes, as far as it counts. */
  held: number
  /** Its neighbours among the requests that hold something, by the time since when. */
  older: HeldRequest | undefined
  newer: HeldRequest | undefined
  /** Ends the call, and drops the bytes. */
  refuse(reason: AshlarError): void
}

/**
 * The bytes of all requests whose calls are not let in yet, on all listeners of a server. When they are more
 * than the limit, the request that has held bytes for longest is refused: it is more likely to be one that
 * never ends than any other, and new callers are served whatever others leave open.
 */
export class UnauthenticatedBytes {
  #held = 0
  #oldest: HeldRequest | undefined
  #newest: HeldRequest | undefined

  /**
   * @param limit - in bytes.
   * @param onFull - called for each request that is refused.
   */
  constructor(
    private readonly limit: number,
    private readonly onFull: () => void = () => {},
  ) {}

  /** The bytes that are held now. */
  get held(): number {
    return this.#held
  }

  /** Notes what a request holds now. It may be refused inside, and so may others. */
  hold(request: HeldRequest, bytes: number): void {
    if (request.isLetIn) return
    if (bytes === 0) {
      this.letIn(request)
      request.isLetIn = false // it may hold more later
      return
    }
    if (request.held === 0) {
      request.older = this.#newest
      if (this.#newest === undefined) this.#oldest = request
      else this.#newest.newer = request
      this.#newest = request
    }
    this.#held += bytes - request.held
    request.held = bytes
    while (this.#held > this.limit && this.#oldest !== undefined) this.#refuse(this.#oldest)
  }

  /** What the request holds no longer counts: its call is let in, or over. */
  letIn(request: HeldRequest): void {
    request.isLetIn = true
    if (request.held === 0) return
    this.#held -= request.held
    request.held = 0
    const { older, newer } = request
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    request.older = request.newer = undefined
  }

  #refuse(request: HeldRequest): void {
    this.letIn(request)
    this.onFull()
    request.refuse(
      new ResourceExhausted(
        `requests of callers that are not let in yet hold ${this.limit} bytes: retry later`,
        RETRY_AFTER_MS,
      ),
    )
  }
}
