import { abortError } from '../bounds/abort-error.js'
import { Unavailable } from '../errors.js'
import { derivations, TOO_MANY_CHECKS } from './hash-spec.js'

/**
 * How many checks may wait for their turn to derive a key, whatever they will come to: another bound for
 * those that can only fail would tell which public ids exist.
 */
const LONGEST_QUEUE = 100
/** How many of them may be of one public id, so that nobody fills the queue with one. */
const MOST_OF_ONE = 4

/** Which check it is. The same one is done once for all who ask at the same time. */
export interface SlowCheck {
  readonly publicId: string
  readonly secret: string
  /** What the secret is compared with; `''` where it can only fail. */
  readonly hash: string
}

/** The checks that derive keys: one queue per process, as there is one thread pool. */
class SlowChecks {
  readonly #running = new Map<string, Running>()
  readonly #ofOne = new Map<string, number>()

  /**
   * @param check - derives keys; called in its turn, or not at all.
   * @param signal - ends the wait of this caller.
   * @throws Unavailable when too many wait.
   */
  async run(
    { publicId, secret, hash }: SlowCheck,
    check: () => Promise<boolean>,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (signal?.aborted === true) throw abortError(signal)
    const key = `${publicId}_${secret}_${hash}`
    const running = this.#running.get(key) ?? this.#begin(key, publicId, check)
    running.callers++
    try {
      return await endedBy(signal, running.result)
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
    if (others >= MOST_OF_ONE) throw new Unavailable(TOO_MANY_CHECKS)
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

export const slowChecks = new SlowChecks()

interface Running {
  readonly result: Promise<boolean>
  /** Aborts when all who wait for it have gone. */
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
