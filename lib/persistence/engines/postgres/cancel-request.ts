import { connect } from 'node:net'

/** The server and process of the statement. */
export interface CancelTarget {
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
}

/** The time a caller waits for the server to process the request. */
const WAIT_MS = 1000

/**
 * PgBouncer gives up a request that it cannot forward after 120 s (`query_wait_timeout`); newer versions
 * sooner.
 */
const LONGEST_MS = 180_000

/**
 * PostgreSQL's CancelRequest: a separate connection that names the process to cancel. The server closes it
 * once the signal is sent, and only the server does, as with libpq: PgBouncer 1.18 exits, with all its
 * clients, when a requester closes even one direction before. So a socket that the server keeps open stays
 * open for a while after the caller stopped waiting.
 * @returns false when the request was sent and the server has not closed in time: it may still cancel
 * whatever runs then.
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
    socket.on('error', () => {}) // 'close' follows.
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
    socket.resume() // Without a reader the server's close would not be noticed.
  })
}
