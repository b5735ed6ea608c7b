import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Returns the same ciphertext to every request, as a transit engine would. */
const BODY = JSON.stringify({ data: { ciphertext: `vault:v1:${'A'.repeat(80)}`, key_version: 1 } })

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(BODY)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () =>
  process.send?.({ ports: { http: (server.address() as AddressInfo).port } }),
)
process.once('disconnect', () => process.exit())
