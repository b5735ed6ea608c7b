import { H2Connection } from '../load/h2-connection.js'
import { startServer } from '../load/server-process.js'
import { serverOf } from '../load/server-module.js'
import { field, grpcFrame, grpcHeaders } from '../load/wire.js'
import type { Side } from '../subject.js'
import { STAFF } from './callers.js'
import { fill, keyOf, tenantOf } from './postgres-data.js'

const ROW = 4242
const HEADERS = grpcHeaders('/widgets.v1.WidgetService/GetWidget', { ...STAFF, 'account-id': tenantOf(ROW) })
const BODY = grpcFrame(field(1, keyOf(ROW)))
/** The idle time of a server before its memory is read, in milliseconds. */
const IDLE_MS = 1500

/** Starts a server process each time and measures the time until its first response. */
export async function setUp(): Promise<Side> {
  await fill()
  const server = serverOf(import.meta.url)
  let cpuUs = 0
  return {
    operations: {
      async 'first response'() {
        const running = await startServer(server)
        await answered(running.ports.grpc)
        cpuUs += await running.cpuUs()
        await running.end()
      },
    },
    serverCpuUs: () => Promise.resolve(cpuUs),
  }
}

async function answered(port = 0): Promise<void> {
  const connection = await H2Connection.open(port)
  const answer = await connection.call(HEADERS, BODY)
  connection.close()
  if (!answer.includes(keyOf(ROW))) throw new TypeError('a wrong response')
}

/**
 * Returns the resident memory of a server that was idle after one response, in MB: the median of several
 * processes.
 */
export async function idleMegabytes(side: URL, processes = 5): Promise<number> {
  const found: number[] = []
  for (let i = 0; i < processes; i++) {
    const running = await startServer(serverOf(side.href))
    await answered(running.ports.grpc)
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    found.push((await running.rss()) / 2 ** 20)
    await running.end()
  }
  return found.sort((a, b) => a - b)[processes >> 1] ?? Number.NaN
}
