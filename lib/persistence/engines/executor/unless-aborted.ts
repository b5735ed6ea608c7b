import type { CallEnd } from '../../../call-end.js'
import { cancellation } from '../errors/cancellation.js'

/**
 * Waits for work that several callers share. The work continues if one of them leaves.
 *
 * @throws Cancelled, DeadlineExceeded if this caller's signal aborts first.
 */
export function unlessAborted<T>(running: Promise<T>, signal: CallEnd | undefined): Promise<T> {
  if (signal === undefined) return running
  return new Promise((resolve, reject) => {
    const leave = () => reject(cancellation(signal))
    const stay = () => signal.removeEventListener('abort', leave)
    running.then(resolve, reject).finally(stay)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
  })
}
