import { connect } from 'node:net'

/** The server and the process that run the statement. */
export interface CancelTarget {
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
}

/** The maximum time that a caller waits for the server to process the request. */
const WAIT_MS = 1000

/**
 * The maximum time that the socket stays open. PgBouncer abandons a request that it cannot forward after 120
 * s (`query_wait_timeout`), newer versions sooner.
 */
const LONGEST_MS = 180_000

/**
 * Sends PostgreSQL's CancelRequest on a separate connection. The server closes that connection when it has
 * sent the signal. Like libpq, this function does not close it earlier: PgBouncer 1.18 crashes if a requester
 * closes even one direction first. So the socket stays open for a while after the caller has stopped waiting.
 *
 * @returns false if the server did not close the connection in time. The request may then still cancel a
 *   later statement.
 */
export function requestCancel({ host, port, processID, secretKey }: CancelTarget): Promise<boolean> {
  const request = Buffer.alloc(16)
  request.writeInt32BE(16, 0)
  request.writeInt32BE(80877102, 4)
  request.writeInt32BE(processID | 0, 8)
  request.writeInt32BE(secretKey | 0, 12)
  return new Promise((resolve) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    const timer = setTimeout(() => {
      if (socket.connecting) socket.destroy()
      else {
        socket.unref().setTimeout(LONGEST_MS, () => socket.destroy())
        resolve(false)
      }
    }, WAIT_MS)
    socket.on('connect', () => socket.write(request))
    socket.on('error', () => {}) // The 'close' event follows.
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
    socket.resume() // Without a reader, the server's close would not be noticed.
  })
}
