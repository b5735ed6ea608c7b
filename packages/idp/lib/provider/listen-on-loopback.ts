import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Failure } from '../idp-failure.js'
import { takenPort } from './taken-port.js'

const IPV4 = '127.0.0.1'
const IPV6 = '::1'
/**
 * The maximum number of connections per address. With 16 KiB of headers and 56 KiB of body each, they occupy
 * 36 MiB.
 */
const MAX_CONNECTIONS = 500
const TIMES = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 }

/** Servers on the loopback addresses of this machine, on the same port. */
export interface LoopbackServers {
  readonly port: number
  readonly close: () => Promise<void>
}

/**
 * Listens on 127.0.0.1, and on ::1 if the machine has it, because `localhost` can be either. Port 0 selects a
 * free port.
 *
 * @throws Failure if the port is in use.
 */
export async function listenOnLoopback(
  port: number,
  handlerAt: (port: number) => RequestListener,
  warn: (text: string) => void,
): Promise<LoopbackServers> {
  let handler: RequestListener = (_request, response) => void response.end()
  const make = (): Server => {
    const server = createServer(TIMES, (request, response) => handler(request, response))
    server.maxConnections = MAX_CONNECTIONS
    server.on('clientError', (_error, socket) => {
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
    })
    return server
  }
  const first = make()
  await listen(first, port, IPV4).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') throw new Failure(await takenPort(port))
    if (error.code === 'EACCES')
      throw new Failure(`port ${port} needs more privileges: choose a port from 1024 on`)
    throw error
  })
  const taken = (first.address() as AddressInfo).port
  const servers = [first]
  const second = make()
  await listen(second, taken, IPV6).then(
    () => servers.push(second),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        warn(`Another program uses port ${taken} of [::1]. Write 127.0.0.1 instead of localhost.`)
    },
  )
  handler = handlerAt(taken)
  return {
    port: taken,
    close: async () => {
      await Promise.all(
        servers.map((server) => {
          const closed = new Promise((resolve) => server.close(resolve))
          server.closeAllConnections()
          return closed
        }),
      )
    },
  }
}

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
