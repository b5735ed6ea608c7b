import type { CallEnd } from '../../../call-end.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import { cancellation } from '../errors/cancellation.js'

/** The time a cancelled statement may continue before its connection is cut. */
const GRACE_MS = 1000

/** The time between two requests, at first; then twice as long. */
const AGAIN_MS = 100

export interface Cancelling {
  /** Told when the signal aborts while the statement runs. */
  readonly late?: (signal: CallEnd) => void
  /** Asks the server to stop the statement. The connection must not be used until this has finished. */
  readonly cancel: () => Promise<void>
  /** Cuts the connection. */
  readonly destroy: () => void
}

/**
 * Waits for a statement, and cancels it when the signal aborts. A statement that finishes nevertheless
 * returns its result.
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
    // A request that comes late would hit the next statement of the connection, which one that was cut has
    // not.
    const ended = cancels?.end()
    if (!isCut) await ended
  }
}

/**
 * Cancels a statement until it is over. The server ignores a request that comes before it has read the
 * statement, and does not notice while it works that the connection was cut: without another request the
 * statement would run to its end.
 */
class Cancels {
  readonly #sending: Promise<void>
  #isOver = false
  #wake = () => {}

  constructor(private readonly cancel: () => Promise<void>) {
    this.#sending = this.#send()
  }

  /** Returns when no request is on its way any more. */
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
 * Waits for transaction control, which is never cancelled. A connection that does not respond a while after
 * the signal aborted is cut. Otherwise a dead network would keep it until TCP gives up.
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

/** Waits for what prepares a new connection, which is cut where that takes too long. */
export async function unlessTooLate<T>(running: Promise<T>, ms: number, destroy: () => void): Promise<T> {
  const timer = setTimeout(destroy, ms)
  try {
    return await running
  } finally {
    clearTimeout(timer)
  }
}
