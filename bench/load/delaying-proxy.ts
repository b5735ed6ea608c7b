import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The delay of a proxy that simulates a PostgreSQL in another zone: one millisecond in each direction. */
const EACH_WAY_MS = 1

const to = new URL(process.env['BENCH_DATABASE_URL'] ?? '')

const server = createServer({ noDelay: true }, (client) => {
  const database = connect({ host: to.hostname, port: Number(to.port || 5432), noDelay: true })
  later(client, database)
  later(database, client)
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ ports: { postgres: (server.address() as AddressInfo).port } })
})
process.once('disconnect', () => process.exit())

function later(from: Socket, into: Socket): void {
  from.on('data', (bytes) => setTimeout(() => into.write(bytes), EACH_WAY_MS))
  from.on('error', () => into.destroy())
  from.on('close', () => setTimeout(() => into.end(), EACH_WAY_MS))
}
