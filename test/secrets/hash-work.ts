import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** The fast hashes that ran, and the iterations of PBKDF2, those of each block counted. */
export interface HashWork {
  readonly fast: readonly string[]
  readonly iterations: number
}

/** The work of secrets while `fn` runs. */
export async function hashWork(fn: () => Promise<unknown>): Promise<HashWork> {
  const { createHash, hash, pbkdf2 } = crypto
  const fast: string[] = []
  let iterations = 0
  Object.assign(crypto, {
    createHash: (...values: Parameters<typeof createHash>) => {
      fast.push(values[0])
      return createHash(...values)
    },
    hash: (...values: Parameters<typeof hash>) => {
      fast.push(values[0])
      return hash(...values)
    },
    pbkdf2: (...values: Parameters<typeof pbkdf2>) => {
      iterations += values[2] * Math.ceil(values[3] / 32)
      pbkdf2(...values)
    },
  })
  syncBuiltinESMExports()
  try {
    await fn()
  } finally {
    Object.assign(crypto, { createHash, hash, pbkdf2 })
    syncBuiltinESMExports()
  }
  return { fast, iterations }
}
