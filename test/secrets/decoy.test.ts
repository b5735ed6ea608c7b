import { expect } from 'chai'
import { createHook } from 'node:async_hooks'
import crypto, { randomBytes } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import { AlgoSHA384 } from '../../lib/secrets/hash-spec.js'
import { draft, inAcme } from '../conformance/repository/subject.js'
import { Specimen } from '../support/entities/specimen.js'

/** Every hash (by its algorithm) and key derivation that runs while `fn` does. */
async function workOf(fn: () => Promise<unknown>): Promise<readonly string[]> {
  const { createHash, hash } = crypto
  const work: string[] = []
  const derivations = createHook({ init: (_id, type) => void (type === 'PBKDF2REQUEST' && work.push(type)) })
  Object.assign(crypto, {
    createHash: (...values: Parameters<typeof createHash>) => {
      work.push(values[0])
      return createHash(...values)
    },
    hash: (...values: Parameters<typeof hash>) => {
      work.push(values[0])
      return hash(...values)
    },
  })
  syncBuiltinESMExports()
  derivations.enable()
  try {
    await fn()
  } finally {
    derivations.disable()
    Object.assign(crypto, { createHash, hash })
    syncBuiltinESMExports()
  }
  return work
}

describe('the work of an unknown credential', () => {
  for (const algo of ['', AlgoSHA384, 'pbkdf2-sha256:1000:32'])
    it(`is that of a wrong secret with ${algo || 'the default hash'}`, async () => {
      const minter = new CredentialMinter(algo === '' ? {} : { spec: { algo } })
      const specimens = new (memoryRepositoryOf(Specimen))({ minter, encryptor: newDev(randomBytes(32)) })
      const { apiKey = '' } = await inAcme(() => specimens.create(draft()))
      const [prefix = '', publicId = '', secret = ''] = apiKey.split('_')
      const unknownId = [...publicId].reverse().join('')
      const wrongSecret = [...secret].reverse().join('')
      const wrong = await workOf(() => specimens.verifyApiKey(`${prefix}_${publicId}_${wrongSecret}`))
      const unknown = await workOf(() => specimens.verifyApiKey(`${prefix}_${unknownId}_${secret}`))
      expect(wrong.length).to.be.at.least(1)
      expect(unknown).to.deep.equal(wrong)
    })
})

describe('the key of newDev', () => {
  for (const length of [0, 1, 16, 31, 33, 64])
    it(`is refused at once with ${length} bytes`, () => {
      expect(() => newDev(new Uint8Array(length))).to.throw(RangeError, `exactly 32 bytes, not ${length}`)
      expect(() => newDev('k'.repeat(length))).to.throw(RangeError, `exactly 32 bytes, not ${length}`)
    })

  it('is taken with 32 bytes', async () => {
    const encryptor = newDev(new Uint8Array(32))
    expect(await encryptor.decrypt(await encryptor.encrypt('text'))).to.equal('text')
  })
})
