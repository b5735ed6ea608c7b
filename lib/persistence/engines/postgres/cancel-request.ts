import { connect } from 'node:net'

/** Which statement of which server is meant. */
export interface CancelTarget {
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
}

/** How long a caller waits until the server has seen to the request. */
const WAIT_MS = 1000

/** PgBouncer gives up a request that it cannot hand on after 120 s (`query_wait_timeout`); newer ones sooner. */
const LONGEST_MS = 180_000

/**
 * PostgreSQL's CancelRequest: a connection of its own that says who is meant. The server closes it once the signal is on its
 * way, and only it does, as with libpq: PgBouncer 1.18 exits, with all its clients, when a requester closes even one direction
 * before. So a socket that the server keeps is left open for a while after nobody waits for it any more.
 * @returns false when the request was sent and the server has not closed in time: it may still stop whatever runs by then.
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
    socket.resume() // Without a reader the server's close would not be heard.
  })
}
