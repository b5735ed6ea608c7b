import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { Unavailable } from '../../lib/errors.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import { type Algorithm, AlgoSHA384, parseHashSpec, workOf } from '../../lib/secrets/hash-spec.js'
import { SpecsInUse } from '../../lib/secrets/specs-in-use.js'
import { draft, inAcme } from '../conformance/repository/subject.js'
import { Specimen } from '../support/entities/specimen.js'
import { hashWork } from './hash-work.js'

const withSpec = (algo: string) => new CredentialMinter(algo === '' ? {} : { spec: { algo } })

describe('the work of an unknown credential', () => {
  for (const algo of ['', AlgoSHA384, 'pbkdf2-sha256:1000:32', 'pbkdf2-sha256:1000:33'])
    it(`is that of a wrong secret with ${algo || 'the default hash'}`, async () => {
      const minter = withSpec(algo)
      const specimens = new (memoryRepositoryOf(Specimen))({ minter, encryptor: newDev(randomBytes(32)) })
      const { apiKey = '' } = await inAcme(() => specimens.create(draft()))
      const [prefix = '', publicId = '', secret = ''] = apiKey.split('_')
      const unknownId = [...publicId].reverse().join('')
      const wrongSecret = [...secret].reverse().join('')
      const wrong = await hashWork(() => specimens.verifyApiKey(`${prefix}_${publicId}_${wrongSecret}`))
      const unknown = await hashWork(() => specimens.verifyApiKey(`${prefix}_${unknownId}_${secret}`))
      expect(wrong.fast.length + wrong.iterations).to.be.at.least(1)
      expect(unknown).to.deep.equal(wrong)
    })
})

describe('the work of a failed check', () => {
  // iterations of the dearest, those of each block of 32 bytes counted
  const cases = [
    ['a fast hash is the default', 'sha384', ['sha512-256', 'sha384', 'pbkdf2-sha256:500:32'], 500],
    ['PBKDF2 is the default', 'pbkdf2-sha256:300:32', ['sha512-256', 'pbkdf2-sha256:200:32'], 300],
    ['it was dearer', 'pbkdf2-sha256:300:32', ['pbkdf2-sha256:200:128', 'pbkdf2-sha256:700:16'], 800],
  ] as const
  for (const [name, algo, older, dearest] of cases)
    it(`is that of the dearest spec in use: ${name}`, async () => {
      const minter = withSpec(algo)
      const minted = await Promise.all([...older, algo].map((one) => withSpec(one).mint()))
      const specs = () => Promise.resolve([...minted.map(({ stored }) => stored.spec), { algo: 'unknown' }])
      const iterations = async (check: () => Promise<boolean>, isRight = false) =>
        (await hashWork(async () => expect(await check()).to.equal(isRight))).iterations
      expect(await iterations(() => minter.verifyUnknown('x', { specs }))).to.equal(dearest)
      for (const { stored, token } of minted) {
        expect(await iterations(() => withSpec(algo).verify('x', stored, { specs }))).to.equal(dearest)
        expect(await iterations(() => minter.verify('x', stored))).to.equal(dearest)
        const own = await iterations(() => minter.verify(minter.parse(token).secret, stored), true)
        expect(own).to.equal(workOf(parseHashSpec(stored.spec) as Algorithm))
      }
    })

  it('is that of a spec which was checked once', async () => {
    const minter = withSpec('')
    const { stored } = await withSpec('pbkdf2-sha256:400:32').mint()
    await minter.verify('x', stored)
    expect((await hashWork(() => minter.verifyUnknown('x'))).iterations).to.equal(400)
  })
})

describe('the specs in use', () => {
  it('are asked for once by all that fail meanwhile, and again after ten minutes', async () => {
    let now = 0
    let asked = 0
    let answer: (specs: readonly unknown[]) => void = () => {}
    const answered = new Promise<readonly unknown[]>((resolve) => (answer = resolve))
    const specs = new SpecsInUse(
      () => (asked++ === 0 ? answered : Promise.resolve(['sha384'])),
      () => now,
    )
    const first = [specs.read(), specs.read()]
    answer(['sha512-256', null, 'sha512-256'])
    for (const one of first) expect(await one).to.deep.equal([{ algo: 'sha512-256' }])
    now = 599_999
    expect(specs.read()).to.equal(undefined)
    now = 600_000
    expect(await specs.read()).to.deep.equal([{ algo: 'sha384' }])
    expect(asked).to.equal(2)
  })

  it('are those that were seen where the table does not say them', async () => {
    const specs = new SpecsInUse(() => Promise.reject(new Unavailable('busy')))
    expect(await specs.read()).to.deep.equal([])
    expect(specs.read()).to.equal(undefined)
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
