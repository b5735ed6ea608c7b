import { createHmac, randomBytes } from 'node:crypto'
import { abortError } from '../bounds/abort-error.js'
import { Unavailable } from '../errors.js'
import { derivations, TOO_MANY_CHECKS } from './hash-spec.js'

/**
 * The maximum number of checks that may wait for their turn to derive a key. A separate limit for checks that
 * can only fail would reveal which public ids exist.
 */
const LONGEST_QUEUE = 100
/** The maximum number of waiting checks per public id, so that one id cannot fill the queue. */
const MAX_OF_ONE = 4

/**
 * The time in milliseconds for which a successful check is cached after its last use. A caller who knows a
 * public id can fill its places in the queue with wrong secrets, but must not lock out the key's holder.
 */
const KNOWN_MS = 30_000
const MAX_KNOWN = 10_000

/** Identifies a check. Concurrent callers with the same check share one derivation. */
export interface SlowCheck {
  readonly publicId: string
  readonly secret: string
  /** The stored hash to compare with. Empty if the check can only fail. */
  readonly hash: string
}

/**
 * The checks that derive keys, in one queue per process because there is one thread pool. A check that
 * recently succeeded is not repeated. The stored values are part of its identity, so that a changed
 * credential is checked again.
 */
export class SlowChecks {
  readonly #known = new KnownChecks()
  readonly #running = new Map<string, Running>()
  readonly #ofOne = new Map<string, number>()

  /**
   * @param now - a monotonic clock in milliseconds.
   */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Returns the result of a check, which callers with the same secret share.
   *
   * @param check - derives keys. Called at its turn, or never.
   * @param signal - ends this caller's wait.
   * @throws Unavailable if too many checks are waiting.
   */
  async run(
    { publicId, secret, hash }: SlowCheck,
    check: () => Promise<boolean>,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (signal?.aborted === true) throw abortError(signal)
    const key = `${publicId}_${secret}_${hash}`
    if (this.#known.has(key, this.now())) return true
    const running = this.#running.get(key) ?? this.#begin(key, publicId, check)
    running.callers++
    try {
      const isRight = await endedBy(signal, running.result)
      if (isRight) this.#known.add(key, this.now())
      return isRight
    } finally {
      running.callers--
      if (running.callers === 0) {
        if (this.#running.get(key) === running) this.#running.delete(key)
        running.given.abort()
      }
    }
  }

  #begin(key: string, publicId: string, check: () => Promise<boolean>): Running {
    const others = this.#ofOne.get(publicId) ?? 0
    if (others >= MAX_OF_ONE) throw new Unavailable(TOO_MANY_CHECKS)
    this.#ofOne.set(publicId, others + 1)
    const given = new AbortController()
    const result = derivations(check, given.signal, LONGEST_QUEUE).finally(() => {
      const left = (this.#ofOne.get(publicId) ?? 1) - 1
      if (left === 0) this.#ofOne.delete(publicId)
      else this.#ofOne.set(publicId, left)
    })
    const running: Running = { result, given, callers: 0 }
    this.#running.set(key, running)
    return running
  }
}

/**
 * The checks that succeeded recently, as digests, so that neither secrets nor values that prove them stay in
 * memory.
 */
class KnownChecks {
  readonly #key = randomBytes(32)
  /** The time of each check's last use; the least recently used check is first. */
  readonly #askedAt = new Map<string, number>()

  has(check: string, now: number): boolean {
    if (this.#askedAt.size === 0) return false
    const digest = this.#digest(check)
    const at = this.#askedAt.get(digest)
    if (at === undefined) return false
    this.#askedAt.delete(digest)
    if (now - at >= KNOWN_MS) return false
    this.#askedAt.set(digest, now)
    return true
  }

  add(check: string, now: number): void {
    const digest = this.#digest(check)
    this.#askedAt.delete(digest)
    this.#askedAt.set(digest, now)
    for (const [oldest, at] of this.#askedAt) {
      if (this.#askedAt.size <= MAX_KNOWN && now - at < KNOWN_MS) return
      this.#askedAt.delete(oldest)
    }
  }

  #digest(check: string): string {
    return createHmac('sha256', this.#key).update(check).digest('base64')
  }
}

export const slowChecks = new SlowChecks()

interface Running {
  readonly result: Promise<boolean>
  /** Aborts when no caller waits any longer. */
  readonly given: AbortController
  callers: number
}

const endedBy = <T>(signal: AbortSignal | undefined, result: Promise<T>): Promise<T> => {
  if (signal === undefined) return result
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(abortError(signal))
    signal.addEventListener('abort', leave, { once: true })
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
