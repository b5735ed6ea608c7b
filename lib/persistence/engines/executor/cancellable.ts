import type { CallEnd } from '../../../call-end.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import { cancellation } from '../errors/cancellation.js'

/** How long a cancelled statement may continue before its connection is cut. */
const GRACE_MS = 1000

export interface Cancelling {
  /** Asks the server to stop the statement. The connection must not be used until this has finished. */
  readonly cancel: () => Promise<void>
  /** Cuts the connection. */
  readonly destroy: () => void
}

/**
 * Waits for a statement, and cancels it when the signal aborts. A statement that finishes nevertheless returns its
 * result.
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
  { cancel, destroy }: Cancelling,
): Promise<T> {
  let cancelling: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  const abort = () => {
    timer = setTimeout(destroy, GRACE_MS)
    cancelling = cancel().catch(() => {})
  }
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await running
  } catch (error) {
    throw signal.aborted ? cancellation(signal, new DriverFault(error)) : error
  } finally {
    signal.removeEventListener('abort', abort)
    await cancelling
    clearTimeout(timer)
  }
}

/**
 * Waits for transaction control, which is never cancelled. A connection that does not respond a while after the signal
 * aborted is cut. Otherwise a dead network would keep it until TCP gives up.
 */
export async function unlessSilent<T>(
  running: Promise<T>,
  signal: CallEnd | undefined,
  destroy: () => void,
): Promise<T> {
  if (signal === undefined) return running
  let timer: NodeJS.Timeout | undefined
  const abort = () => {
    timer = setTimeout(destroy, GRACE_MS)
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
