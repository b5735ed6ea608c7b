import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certified } from './certificates.js'

/** A TLS proxy in front of a database server that does not support TLS. */
export interface TlsDatabase {
  readonly port: number
  /** The number of encrypted and of unencrypted sessions. */
  readonly sessions: { encrypted: number; plain: number }
  close(): Promise<void>
}

const SSL_REQUEST = 80_877_103

/** Starts the proxy. @param url - the address of the database server. */
export async function tlsDatabase(url: string, { certificate, key }: Certified): Promise<TlsDatabase> {
  const target = new URL(url)
  const isPostgres = target.protocol.startsWith('postgres')
  const all = new Set<Socket>()
  const sessions = { encrypted: 0, plain: 0 }
  const track = <S extends Socket>(socket: S): S => {
    all.add(socket)
    socket.on('error', () => undefined)
    return socket
  }
  const encrypted = (client: Socket) => {
    sessions.encrypted++
    return track(new TLSSocket(client, { isServer: true, cert: certificate, key }))
  }
  const server = createServer((client) => {
    track(client)
    const upstream = track(connect(Number(target.port || (isPostgres ? 5432 : 3306)), target.hostname))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    if (isPostgres) postgres(client, upstream)
    else mysql(client, upstream)
  })

  function postgres(client: Socket, upstream: Socket): void {
    client.once('data', (first) => {
      if (first.length === 8 && first.readInt32BE(4) === SSL_REQUEST) {
        client.write('S')
        const secure = encrypted(client)
        secure.pipe(upstream).pipe(secure)
        return
      }
      sessions.plain++
      upstream.write(first)
      client.pipe(upstream).pipe(client)
    })
  }

  /**
   * Adds TLS to the greeting of the server. The client requests TLS in a separate packet, which the server
   * must not receive.
   */
  function mysql(client: Socket, upstream: Socket): void {
    upstream.once('data', (greeting) => {
      const flags = greeting.indexOf(0, 5) + 14
      greeting.writeUInt16LE(greeting.readUInt16LE(flags) | SSL_FLAG, flags)
      client.write(greeting)
      client.once('data', (first) => {
        if ((first.readUInt32LE(4) & SSL_FLAG) === 0) {
          sessions.plain++
          upstream.write(first)
          client.pipe(upstream).pipe(client)
          return
        }
        // Data that follows the request may have arrived with it.
        client.pause()
        if (first.length > REQUEST_LENGTH) client.unshift(first.subarray(REQUEST_LENGTH))
        const secure = encrypted(client)
        secure.once('data', (login: Buffer) => {
          login.writeUInt32LE((login.readUInt32LE(4) & ~SSL_FLAG) >>> 0, 4)
          login.writeUInt8(login.readUInt8(3) - 1, 3)
          upstream.write(login)
          upstream.once('data', (answer) => {
            answer.writeUInt8(answer.readUInt8(3) + 1, 3)
            secure.write(answer)
            secure.pipe(upstream).pipe(secure)
          })
        })
      })
    })
  }

  await new Promise<void>((listening) => server.listen(0, '0.0.0.0', listening))
  return {
    port: (server.address() as AddressInfo).port,
    sessions,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of all) socket.destroy()
      }),
  }
}

const SSL_FLAG = 0x0800
const REQUEST_LENGTH = 36
