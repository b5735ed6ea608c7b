import { newVaultTransit } from '../../lib/secrets/vault-transit.js'
import { startServer } from '../load/server-process.js'
import type { Side } from '../subject.js'
import { PLAINTEXT } from './secrets-values.js'

export async function setUp(): Promise<Side> {
  const server = await startServer(new URL('./transit-server.js', import.meta.url))
  const transit = newVaultTransit(`http://127.0.0.1:${server.ports.http}`, 'hvs.bench', 'k', {
    indexKey: Buffer.alloc(32, 'k'),
  })
  return {
    operations: {
      async encrypt() {
        if (!(await transit.encrypt(PLAINTEXT)).startsWith('vault:v1:')) throw new TypeError('no ciphertext')
      },
    },
    tearDown: async () => {
      await transit.close()
      await server.end()
    },
  }
}
