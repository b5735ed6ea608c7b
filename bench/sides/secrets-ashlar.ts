import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import type { Side } from '../subject.js'
import { DEV_KEY, PLAINTEXT } from './secrets-values.js'

export async function setUp(): Promise<Side> {
  const minter = new CredentialMinter()
  const { token, stored } = await minter.mint()
  const { secret } = minter.parse(token)
  const encryptor = newDev(DEV_KEY)
  const ciphertext = await encryptor.encrypt(PLAINTEXT)
  const hash = await encryptor.hash(PLAINTEXT)
  return {
    operations: {
      async verify() {
        if (!(await minter.verify(secret, stored))) throw new TypeError('not verified')
      },
      async 'parse and verify'() {
        if (!(await minter.verify(minter.parse(token).secret, stored))) throw new TypeError('not verified')
      },
      async encrypt() {
        if ((await encryptor.encrypt(PLAINTEXT)).length !== ciphertext.length)
          throw new TypeError('wrong length')
      },
      async hash() {
        if ((await encryptor.hash(PLAINTEXT)) !== hash) throw new TypeError('wrong hash')
      },
    },
  }
}
