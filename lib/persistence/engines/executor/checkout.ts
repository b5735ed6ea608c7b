import type { CallEnd } from '../../../call-end.js'
import { AshlarError, Unavailable } from '../../../errors.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import { cancellation } from '../errors/cancellation.js'

/**
 * Gets a connection of a pool. Neither driver can remove a waiting caller, so a caller that left releases the
 * connection when it gets it.
 * @param connect - requests a connection from the driver's pool.
 */
export function checkout<C extends { release(): void }>(
  connect: (done: (error: Error | null | undefined, connection: C | undefined) => void) => void,
  signal: CallEnd | undefined,
): Promise<C> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(cancellation(signal))
    const leave = () => reject(cancellation(signal))
    signal?.addEventListener('abort', leave, { once: true })
    connect((error, connection) => {
      signal?.removeEventListener('abort', leave)
      if (connection === undefined) {
        // HotPool's own errors hold no values.
        const cause = error instanceof AshlarError ? error : new DriverFault(error)
        return reject(new Unavailable('the database cannot be reached', cause))
      }
      // In a separate turn: the pool serves the next caller inside of `release`, and after an outage thousands in a row
      // may have left.
      if (signal?.aborted === true) process.nextTick(() => connection.release())
      else resolve(connection)
    })
  })
}
