import { expect } from 'chai'
import { pbkdf2Sync } from 'node:crypto'
import { SecretUnreadable } from '../../lib/errors.js'
import { AlgoSHA384, AlgoSHA512_256, hashWith, parseHashSpec } from '../../lib/secrets/hash-spec.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { toPlaintext } from '../../lib/secrets/plaintext.js'
import { vectorFile, vectors } from '../support/values/vectors.js'

describe('HashSpec', () => {
  const understood: [algo: string, length: number][] = [
    ['', 32],
    ['sha512-256', 32],
    ['sha384', 48],
    ['pbkdf2-sha256:1:16', 16],
    ['pbkdf2-sha256:600000:32', 32],
    ['pbkdf2-sha256:1000000:128', 128],
  ]
  for (const [algo, length] of understood) {
    it(`understands '${algo}'`, () => expect(parseHashSpec({ algo })?.length).to.equal(length))
  }

  const refused = [
    ...[
      'sha256',
      'SHA384',
      'sha512',
      'sha512-256 ',
      ' sha384',
      'sha384\n',
      'md5',
      'none',
      '__proto__',
      'constructor',
    ],
    ...['pbkdf2-sha256', 'pbkdf2-sha256:', 'pbkdf2-sha256:1000', 'pbkdf2-sha256:1000:', 'pbkdf2-sha256::32'],
    ...[
      'pbkdf2-sha256:0:32',
      'pbkdf2-sha256:1000001:32',
      'pbkdf2-sha256:9999999:32',
      'pbkdf2-sha256:99999999999:32',
    ],
    ...['pbkdf2-sha256:1000:15', 'pbkdf2-sha256:1000:129', 'pbkdf2-sha256:1000:1280', 'pbkdf2-sha256:1000:0'],
    ...['pbkdf2-sha256:01000:32', 'pbkdf2-sha256:1000:032', 'pbkdf2-sha256:+1:32', 'pbkdf2-sha256:-1:32'],
    ...['pbkdf2-sha256:1e3:32', 'pbkdf2-sha256:0x10:32', 'pbkdf2-sha256:1.5:32', 'pbkdf2-sha256:1000:32:1'],
    ...['pbkdf2-sha512:1000:32', 'pbkdf2-sha256:1000:32\n', 'pbkdf2-sha256:١٠٠٠:32'],
  ]
  for (const algo of refused) {
    it(`refuses ${JSON.stringify(algo)}`, () => {
      expect(parseHashSpec({ algo })).to.equal(undefined)
      expect(() => hashWith({ algo }, Buffer.alloc(16), 'x')).to.throw(
        SecretUnreadable,
        'unsupported hash algorithm',
      )
    })
  }

  it('cuts an algorithm it quotes and tells a remote caller nothing of it', () => {
    try {
      void hashWith({ algo: 'x'.repeat(10_000) }, Buffer.alloc(16), 'x')
      expect.fail('it hashed')
    } catch (error) {
      expect(error).to.be.instanceOf(SecretUnreadable)
      expect((error as SecretUnreadable).message.length).to.be.lessThan(200)
      expect((error as SecretUnreadable).wireMessage).to.equal('internal error')
    }
  })
})

describe('hashWith', () => {
  it('passes every public vector of SHA-512/256 and SHA-384', async function () {
    const rows = vectors<{ alg: string; msg_hex: string; md: string; id: string }>('crypto-sha512-256-sha384')
    if (rows === undefined) return this.skip()
    for (const { id, alg, msg_hex, md } of rows) {
      const message = Buffer.from(msg_hex, 'hex')
      // The hash is over salt, then secret: any message can be split into the two where the secret is text.
      expect((await hashWith({ algo: alg }, message, '')).toString('hex'), id).to.equal(md)
      const text = message.toString('latin1')
      if (!/^[\0-\x7f]*$/.test(text)) continue
      const at = Math.floor(message.length / 2)
      const hash = await hashWith({ algo: alg }, message.subarray(0, at), text.slice(at))
      expect(hash.toString('hex'), `${id}, split`).to.equal(md)
    }
    expect(new Set(rows.map(({ alg }) => alg))).to.deep.equal(new Set([AlgoSHA512_256, AlgoSHA384]))
  })

  it('is neither SHA-512 cut short nor SHA-256', async function () {
    const file = vectorFile<{ meta: { trap: Record<string, string> } }>('crypto-sha512-256-sha384')
    if (file === undefined) return this.skip()
    const { sha512_truncated_of_abc, must_not_equal } = file.meta.trap
    const hash = (await hashWith({ algo: AlgoSHA512_256 }, Buffer.from('a'), 'bc')).toString('hex')
    expect(hash).to.equal(must_not_equal)
    expect(hash).not.to.equal(sha512_truncated_of_abc)
  })

  it('passes every public vector of PBKDF2', async function () {
    const rows = vectors<Pbkdf2Row>('crypto-pbkdf2-sha256')
    if (rows === undefined) return this.skip()
    const ran = { verified: 0, primitive: 0 }
    for (const row of rows) {
      const password = toPlaintext(Buffer.from(row.password, 'hex'))
      const salt = Buffer.from(row.salt, 'hex')
      const spec = { algo: `pbkdf2-sha256:${row.iterations}:${row.dk_len}` }
      if (password === undefined) {
        // No text has these bytes, so no token can: what is left is the primitive.
        const dk = pbkdf2Sync(Buffer.from(row.password, 'hex'), salt, row.iterations, row.dk_len, 'sha256')
        expect(dk.toString('hex'), row.id).to.equal(row.dk)
        ran.primitive++
        continue
      }
      expect((await hashWith(spec, salt, password)).toString('hex'), row.id).to.equal(row.dk)
      const hash = Buffer.from(row.dk, 'hex').toString('base64')
      const stored = { publicId: 'x', salt: salt.toString('base64'), hash, spec }
      expect(await new CredentialMinter().verify(password, stored), row.id).to.equal(true)
      expect(await new CredentialMinter().verify(`${password}x`, stored), row.id).to.equal(false)
      ran.verified++
    }
    expect(ran.verified + ran.primitive).to.equal(rows.length)
    expect(ran.verified).to.be.greaterThan(0)
  })

  it('hashes text outside ASCII as UTF-8', async () => {
    const salt = Buffer.from('salt')
    const whole = await hashWith({ algo: AlgoSHA512_256 }, Buffer.concat([salt, Buffer.from('pä🚀')]), '')
    expect(await hashWith({ algo: AlgoSHA512_256 }, salt, 'pä🚀')).to.deep.equal(whole)
  })

  it('returns a hash for fast algorithms and a promise for PBKDF2', async () => {
    expect(hashWith({ algo: AlgoSHA512_256 }, Buffer.alloc(16), 'x')).to.be.instanceOf(Buffer)
    const derived = hashWith({ algo: 'pbkdf2-sha256:1:16' }, Buffer.alloc(16), 'x')
    expect(derived).to.be.instanceOf(Promise)
    await derived
  })
})

interface Pbkdf2Row {
  readonly id: string
  readonly password: string
  readonly salt: string
  readonly iterations: number
  readonly dk_len: number
  readonly dk: string
}
