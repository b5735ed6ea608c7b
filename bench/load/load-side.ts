import type { Operation, Side } from '../subject.js'
import { H2Connection } from './h2-connection.js'
import { HttpConnection } from './http-connection.js'
import { startServer } from './server-process.js'

type Connection = { close(): void }

/** The number of connections to a gRPC server. */
const GRPC_CONNECTIONS = 8

/** Sends a gRPC call over the next connection. */
export type Send = (headers: Buffer, body: Buffer) => Promise<Buffer>

/** Returns a side that puts load on a gRPC server in another process. */
export const grpcSide = (
  server: URL,
  operationsOf: (send: Send) => Promise<Readonly<Record<string, Operation>>>,
  tearDown?: () => Promise<void>,
): Promise<Side> =>
  loadSide(server, tearDown, async ({ grpc = 0 }) => {
    const connections = await Promise.all(
      Array.from({ length: GRPC_CONNECTIONS }, () => H2Connection.open(grpc)),
    )
    let turn = 0
    const send: Send = (headers, body) =>
      (connections[turn++ % GRPC_CONNECTIONS] as H2Connection).call(headers, body)
    return { connections, operations: await operationsOf(send) }
  })

/**
 * Returns a side that puts load on an HTTP server in another process, with one connection for each concurrent
 * call.
 */
export const httpSide = (
  server: URL,
  operationsOf: (send: (request: Buffer) => Promise<Buffer>) => Promise<Readonly<Record<string, Operation>>>,
  tearDown?: () => Promise<void>,
): Promise<Side> =>
  loadSide(server, tearDown, async ({ http = 0 }) => {
    const connections: HttpConnection[] = []
    const idle: HttpConnection[] = []
    const send = async (request: Buffer): Promise<Buffer> => {
      let connection = idle.pop()
      if (connection === undefined) connections.push((connection = await HttpConnection.open(http)))
      const body = await connection.call(request)
      idle.push(connection)
      return body
    }
    return { connections, operations: await operationsOf(send) }
  })

interface Load {
  readonly connections: readonly Connection[]
  readonly operations: Readonly<Record<string, Operation>>
}

async function loadSide(
  server: URL,
  tearDown: (() => Promise<void>) | undefined,
  start: (ports: { readonly grpc?: number; readonly http?: number }) => Promise<Load>,
): Promise<Side> {
  const running = await startServer(server)
  const { connections, operations } = await start(running.ports)
  return {
    operations,
    serverCpuUs: () => running.cpuUs(),
    async tearDown() {
      for (const connection of connections) connection.close()
      await running.end()
      await tearDown?.()
    },
  }
}
