import type { CallEnd } from '../../../call-end.js'
import { AshlarError, DeadlineExceeded, Unavailable } from '../../../errors.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import { cancellation } from '../errors/cancellation.js'
import type { ConnectionWaits } from './connection-waits.js'

/** Requests a connection from the driver's pool. */
export type Connect<C> = (done: (error: Error | null | undefined, connection: C | undefined) => void) => void

/**
 * Gets a connection from a pool. The drivers cannot remove a waiting caller. A caller that has left releases
 * the connection when it receives it.
 *
 * @throws Unavailable after 10 seconds, regardless of the pool's options.
 * @throws Cancelled, DeadlineExceeded
 */
export function checkout<C extends { release(): void }>(
  connect: Connect<C>,
  signal: CallEnd | undefined,
  waits: ConnectionWaits,
): Promise<C> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(cancellation(signal))
    let isOver = false
    const end = () => {
      isOver = true
      signal?.removeEventListener('abort', leave)
      endWait()
    }
    const refuse = (error: Error) => {
      end()
      reject(error)
    }
    const leave = () => {
      const reason = cancellation(signal)
      const isLate = reason instanceof DeadlineExceeded
      refuse(
        isLate
          ? new DeadlineExceeded(`deadline exceeded without a connection: ${waits.state}`, reason)
          : reason,
      )
    }
    const endWait = waits.begin(refuse)
    signal?.addEventListener('abort', leave, { once: true })
    connect((error, connection) => {
      // Release in a separate tick. The pool serves the next caller inside `release`, and after an outage
      // thousands of callers may have left.
      if (isOver) return process.nextTick(() => connection?.release())
      end()
      if (connection !== undefined) return resolve(connection)
      // HotPool's own errors contain no values.
      const cause = error instanceof AshlarError ? error : new DriverFault(error)
      reject(new Unavailable('the database cannot be reached', cause))
    })
  })
}
