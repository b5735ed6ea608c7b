import { AshlarError, Unavailable } from '../../../errors.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import { cancellation } from '../errors/cancellation.js'

/**
 * A connection of a pool. Neither driver can take a waiter out of its line, so one that left hands the connection on when
 * it comes.
 * @param connect - asks the driver's pool.
 */
export function checkout<C extends { release(): void }>(
  connect: (done: (error: Error | null | undefined, connection: C | undefined) => void) => void,
  signal: AbortSignal | undefined,
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
      // In a turn of its own: the pool serves the next in line from inside of `release`, and after an outage thousands may
      // have left in a row.
      if (signal?.aborted === true) process.nextTick(() => connection.release())
      else resolve(connection)
    })
  })
}
