import { Agent, request } from 'node:http'
import { startServer } from '../load/server-process.js'
import type { Side } from '../subject.js'
import { PLAINTEXT } from './secrets-values.js'

/** A plain request with node:http over persistent connections. */
export async function setUp(): Promise<Side> {
  const server = await startServer(new URL('./transit-server.js', import.meta.url))
  const agent = new Agent({ keepAlive: true })
  const address = { host: '127.0.0.1', port: server.ports.http, path: '/v1/transit/encrypt/k' }
  const headers = { 'X-Vault-Token': 'hvs.bench', 'Content-Type': 'application/json' }
  const encrypt = () =>
    new Promise<string>((resolve, reject) => {
      const sent = request({ ...address, method: 'POST', agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { ciphertext: string } }
          resolve(data.ciphertext)
        })
      })
      sent.on('error', reject)
      sent.end(JSON.stringify({ plaintext: Buffer.from(PLAINTEXT).toString('base64') }))
    })
  return {
    operations: {
      async encrypt() {
        if (!(await encrypt()).startsWith('vault:v1:')) throw new TypeError('no ciphertext')
      },
    },
    tearDown: async () => {
      agent.destroy()
      await server.end()
    },
  }
}
