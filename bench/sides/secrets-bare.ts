import { createCipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Side } from '../subject.js'
import { DEV_KEY, PLAINTEXT } from './secrets-values.js'

/** Node's own functions, called directly. */
export function setUp(): Side {
  const secret = 'x'.repeat(43)
  const salt = randomBytes(16)
  const stored = createHash('sha512-256').update(salt).update(secret).digest()
  const hash = createHmac('sha256', DEV_KEY).update(PLAINTEXT).digest('base64')
  const verify = () => {
    const computed = createHash('sha512-256').update(salt).update(secret).digest()
    if (!timingSafeEqual(computed, stored)) throw new TypeError('not verified')
  }
  return {
    operations: {
      verify,
      'parse and verify': verify,
      encrypt() {
        const nonce = randomBytes(12)
        const cipher = createCipheriv('aes-256-gcm', DEV_KEY, nonce)
        const text = cipher.update(PLAINTEXT, 'utf8')
        const all = Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]).toString('base64')
        if (all.length === 0) throw new TypeError('empty')
      },
      hash() {
        const computed = createHmac('sha256', DEV_KEY).update(PLAINTEXT).digest('base64')
        if (computed !== hash) throw new TypeError('wrong hash')
      },
    },
  }
}
