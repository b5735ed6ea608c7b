import type { CallEnd } from '../../../call-end.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import { cancellation } from '../errors/cancellation.js'

/** The time in milliseconds that a cancelled statement may continue before its connection is closed. */
const GRACE_MS = 1000

/** The pause in milliseconds between the first two cancel requests. Each further pause is twice as long. */
const AGAIN_MS = 100

export interface Cancelling {
  /** Called if the signal aborts while the statement runs. */
  readonly late?: (signal: CallEnd) => void
  /** Asks the server to stop the statement. The connection must not be used until this has finished. */
  readonly cancel: () => Promise<void>
  /** Closes the connection. */
  readonly destroy: () => void
}

/**
 * Waits for a statement, and cancels it when the signal aborts. If the statement finishes nevertheless, its
 * result is returned.
 *
 * @throws Cancelled, DeadlineExceeded
 */
export function cancellable<T>(
  running: Promise<T>,
  signal: CallEnd | undefined,
  cancelling: Cancelling,
): Promise<T> {
  return signal === undefined ? running : untilAborted(running, signal, cancelling)
}

async function untilAborted<T>(
  running: Promise<T>,
  signal: CallEnd,
  { cancel, destroy, late }: Cancelling,
): Promise<T> {
  let cancels: Cancels | undefined
  let timer: NodeJS.Timeout | undefined
  let isCut = false as boolean
  const abort = () => {
    timer = setTimeout(() => {
      isCut = true
      destroy()
    }, GRACE_MS)
    cancels = new Cancels(cancel)
    late?.(signal)
  }
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await running
  } catch (error) {
    throw signal.aborted ? cancellation(signal, new DriverFault(error)) : error
  } finally {
    signal.removeEventListener('abort', abort)
    clearTimeout(timer)
    // Wait, because a delayed cancel request would cancel the connection's next statement. A closed
    // connection has none.
    const ended = cancels?.end()
    if (!isCut) await ended
  }
}

/**
 * Sends cancel requests until the statement ends. The server ignores a request that arrives before it has
 * read the statement. It also does not notice a closed connection while it executes, so that without further
 * requests the statement would run to its end.
 */
class Cancels {
  readonly #sending: Promise<void>
  #isOver = false
  #wake = () => {}

  constructor(private readonly cancel: () => Promise<void>) {
    this.#sending = this.#send()
  }

  /** Resolves when no cancel request is in flight. */
  end(): Promise<void> {
    this.#isOver = true
    this.#wake()
    return this.#sending
  }

  async #send(): Promise<void> {
    for (let pauseMs = AGAIN_MS; !this.#isOver; pauseMs *= 2) {
      await this.cancel().catch(() => {})
      await this.#untilOver(pauseMs)
    }
  }

  #untilOver(longestMs: number): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, longestMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/**
 * Waits for transaction control, which is never cancelled. A connection that does not respond soon after the
 * signal aborts is closed. Otherwise a dead network would block it until TCP times out.
 */
export async function unlessSilent<T>(
  running: Promise<T>,
  signal: CallEnd | undefined,
  { destroy, late }: Omit<Cancelling, 'cancel'>,
): Promise<T> {
  if (signal === undefined) return running
  let timer: NodeJS.Timeout | undefined
  const abort = () => {
    timer = setTimeout(destroy, GRACE_MS)
    late?.(signal)
  }
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await running
  } finally {
    signal.removeEventListener('abort', abort)
    clearTimeout(timer)
  }
}

/** Waits for the preparation of a new connection, and closes the connection after `ms` milliseconds. */
export async function unlessTooLate<T>(running: Promise<T>, ms: number, destroy: () => void): Promise<T> {
  const timer = setTimeout(destroy, ms)
  try {
    return await running
  } finally {
    clearTimeout(timer)
  }
}
