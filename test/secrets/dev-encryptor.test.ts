import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { SecretUnreadable } from '../../lib/errors.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import { isDevEncryptor } from '../../lib/secrets/encryptor.js'
import { open, seal } from '../../lib/secrets/seal.js'
import { toPlaintext } from '../../lib/secrets/plaintext.js'
import { encryptorConformance } from '../conformance/encryptor.js'
import { compiled } from '../support/root.js'
import { vectorFile, vectors } from '../support/values/vectors.js'

const KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => index))
const UNREADABLE = 'secrets: the ciphertext cannot be decrypted'

describe('newDev', () => {
  encryptorConformance(async () => ({
    encryptor: newDev(KEY),
    twin: newDev(KEY),
    stranger: newDev(randomBytes(32)),
    keyMaterial: [KEY.toString('hex'), KEY.toString('base64')],
  }))

  it('keeps its byte formats', async () => {
    // Made with another implementation; the nonce is the bytes 100 to 111.
    const encryptor = newDev(KEY)
    const fixed: [ciphertext: string, plaintext: string][] = [
      ['ZGVmZ2hpamtsbW5vO3i2CrpVJe1bDn8YRfH7ZjQ24Xnxnvj+X62rzfCJgQ==', 'schlüssel 🔑'],
      ['ZGVmZ2hpamtsbW5vYJvVD2rXbfZl8Ei6jF/XBg==', ''],
    ]
    for (const [ciphertext, plaintext] of fixed) {
      expect(await encryptor.decrypt(ciphertext)).to.equal(plaintext)
      const nonce = Buffer.from(Array.from({ length: 12 }, (_, index) => index + 100))
      expect(seal(createSecretKey(KEY), nonce, plaintext).toString('base64')).to.equal(ciphertext)
    }
    expect(await encryptor.hash('schlüssel 🔑')).to.equal('1ElkHCY0fvsQOlM7+EF2koyaFuuZ5PYiZyvcN8Mf3gg=')
  })

  it('is recognised as a development part', () => {
    expect(isDevEncryptor(newDev(KEY))).to.equal(true)
    expect(isDevEncryptor({ ...newDev(KEY), development: false })).to.equal(false)
  })

  it('copies its key and does not show it when printed', async () => {
    const key = Buffer.from(KEY)
    const encryptor = newDev(key)
    const hash = await encryptor.hash('x')
    key.fill(0)
    expect(await encryptor.hash('x')).to.equal(hash)
    expect(inspect(encryptor, { depth: 10, showHidden: true })).not.to.match(/Buffer|00 01 02|AAEC/)
  })

  it('rejects bytes that are not UTF-8 rather than change them', async () => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', KEY, nonce)
    const frame = Buffer.concat([
      nonce,
      cipher.update(Buffer.from([0xc3, 0x28])),
      cipher.final(),
      cipher.getAuthTag(),
    ])
    const error = await newDev(KEY)
      .decrypt(frame.toString('base64'))
      .catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(SecretUnreadable).with.property('message', UNREADABLE)
  })

  describe('passes the public vectors', () => {
    it('of AES-256-GCM', async function () {
      const rows = vectors<GcmRow>('crypto-aes-256-gcm')
      if (rows === undefined) return this.skip()
      const ran = { decrypted: 0, framed: 0, primitive: 0 }
      for (const row of rows) {
        const [key, iv, aad, msg, ct, tag] = [row.key, row.iv, row.aad, row.msg, row.ct, row.tag].map((hex) =>
          Buffer.from(hex, 'hex'),
        ) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer]
        const isValid = row.result === 'valid'
        if (row.iv_bits !== 96 || row.aad !== '') {
          // Nonces of other sizes and binary associated data are not in our format: the primitive alone.
          expect(primitive(key, iv, aad, ct, tag), row.id).to.deep.equal(isValid ? msg : undefined)
          ran.primitive++
          continue
        }
        const frame = Buffer.concat([iv, ct, tag])
        expect(open(createSecretKey(key), frame), row.id).to.deep.equal(isValid ? msg : undefined)
        ran.framed++
        const text = isValid ? toPlaintext(msg) : undefined
        const outcome = await newDev(key)
          .decrypt(frame.toString('base64'))
          .catch((error: unknown) => error)
        if (text === undefined) {
          // Tampered with, or bytes that are no UTF-8: rejected alike.
          expect(outcome, row.id).to.be.instanceOf(SecretUnreadable).with.property('message', UNREADABLE)
          continue
        }
        expect(outcome, row.id).to.equal(text)
        expect(seal(createSecretKey(key), iv, text), row.id).to.deep.equal(frame)
        ran.decrypted++
      }
      expect(ran.framed + ran.primitive).to.equal(rows.length)
      const known = ['Ktv', 'Pseudorandom', 'SpecialCase', 'ModifiedTag', 'CounterWrap']
      expect(rows.flatMap(({ flags }) => flags).filter((flag) => !known.includes(flag))).to.deep.equal([])
      expect(ran.decrypted).to.be.greaterThan(0)
    })

    it('of HMAC-SHA256', async function () {
      const rows = vectors<HmacRow>('crypto-hmac-sha256')
      if (rows === undefined) return this.skip()
      const ran = { hashed: 0, primitive: 0 }
      for (const row of rows) {
        const [key, message] = [Buffer.from(row.key, 'hex'), Buffer.from(row.msg, 'hex')]
        const text = toPlaintext(message)
        const isOurs = key.length === 32 && text !== undefined
        // Keys of other lengths and messages that are not a string cannot reach the encryptor: the primitive
        // alone.
        const full = isOurs
          ? Buffer.from(await newDev(key).hash(text), 'base64')
          : createHmac('sha256', key).update(message).digest()
        const isEqual = full.subarray(0, row.tag_bits / 8).toString('hex') === row.tag
        expect(isEqual, row.id).to.equal(row.result === 'valid')
        ran[isOurs ? 'hashed' : 'primitive']++
      }
      expect(ran.hashed + ran.primitive).to.equal(rows.length)
      expect(ran.hashed).to.be.greaterThan(0)
    })

    it('of the frame', async function () {
      const file = vectorFile<{ frame_rows: readonly { id: string }[] }>('crypto-aes-256-gcm')
      if (file === undefined) return this.skip()
      for (const { id } of file.frame_rows) {
        const check = FRAME_CHECKS[id]
        if (check === undefined) expect.fail(`no check for ${id}`)
        await check()
      }
      expect(Object.keys(FRAME_CHECKS).sort()).to.deep.equal(file.frame_rows.map(({ id }) => id).sort())
    })
  })
})

const refusesKey = (length: number) => () => {
  expect(() => newDev(randomBytes(length))).to.throw(RangeError, 'exactly 32 bytes')
}

const tampers = (change: (frame: Buffer) => Buffer[]) => async () => {
  const encryptor = newDev(KEY)
  const frame = Buffer.from(await encryptor.encrypt('a secret'), 'base64')
  for (const changed of change(frame)) await isUnreadable(changed.toString('base64'))
}

const flips = (from: (frame: Buffer) => number, to: (frame: Buffer) => number) =>
  tampers((frame) =>
    Array.from({ length: (to(frame) - from(frame)) * 8 }, (_, bit) => {
      const flipped = Buffer.from(frame)
      const at = from(frame) + (bit >> 3)
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (bit & 7)), at)
      return flipped
    }),
  )

async function isUnreadable(ciphertext: string): Promise<void> {
  const error: unknown = await newDev(KEY)
    .decrypt(ciphertext)
    .then(
      () => expect.fail('it was decrypted'),
      (reason: unknown) => reason,
    )
  expect(error).to.be.instanceOf(SecretUnreadable).with.property('message', UNREADABLE)
  expect(inspect(error, { showHidden: true, depth: 5 })).not.to.contain('a secret')
}

const roundTrips = (plaintext: string) => async () => {
  const encryptor = newDev(KEY)
  const ciphertext = await encryptor.encrypt(plaintext)
  expect((await encryptor.decrypt(ciphertext)) === plaintext).to.equal(true)
}

/** One check for each row of the vectors that says something of our frame in words. */
const FRAME_CHECKS: Readonly<Record<string, () => unknown>> = {
  af01: refusesKey(0),
  af02: refusesKey(1),
  af03: refusesKey(16),
  af04: refusesKey(24),
  af05: refusesKey(31),
  af06: () => expect(() => newDev(randomBytes(32))).not.to.throw(),
  af07: refusesKey(33),
  af08: refusesKey(64),
  af09: refusesKey(1024),
  af10: () => expect(() => newDev(`é${'k'.repeat(31)}`)).to.throw(RangeError, 'not 33'),
  af11: async () => {
    const encryptor = newDev(KEY)
    const [one, two] = [await encryptor.encrypt('x'), await encryptor.encrypt('x')]
    expect(one).not.to.equal(two)
    expect([await encryptor.decrypt(one), await encryptor.decrypt(two)]).to.deep.equal(['x', 'x'])
  },
  af12: async () => {
    const encryptor = newDev(KEY)
    const nonces = new Set<string>()
    for (let index = 0; index < 10_000; index++) nonces.add((await encryptor.encrypt('x')).slice(0, 16))
    expect(nonces.size).to.equal(10_000)
  },
  af13: async () => {
    const ciphertext = await newDev(KEY).encrypt('é🚀')
    expect(ciphertext).to.match(/^[A-Za-z0-9+/]+=*$/)
    expect(ciphertext.length % 4).to.equal(0)
    expect(Buffer.from(ciphertext, 'base64').length).to.equal(12 + 6 + 16)
  },
  af14: async () => {
    const file = new URL(`file://${join(compiled, 'lib', 'secrets', 'dev-encryptor.js')}`).href
    const script = `import(${JSON.stringify(file)}).then(async ({ newDev }) =>
      process.stdout.write(await newDev(Buffer.from(process.argv[1], 'hex')).hash('é🚀')))`
    const elsewhere = execFileSync(process.execPath, ['-e', script, KEY.toString('hex')]).toString()
    expect(elsewhere).to.equal(await newDev(KEY).hash('é🚀'))
    expect(elsewhere).to.equal(createHmac('sha256', KEY).update('é🚀', 'utf8').digest('base64'))
  },
  af15: async () => expect(await newDev(KEY).hash('x')).not.to.equal(await newDev(randomBytes(32)).hash('x')),
  af16: roundTrips(''),
  af17: roundTrips('k'.repeat(1 << 20)),
  af18: roundTrips('日本語🚀\u0000'),
  af19: flips(
    () => 0,
    () => 12,
  ),
  af20: flips(
    () => 12,
    (frame) => frame.length - 16,
  ),
  af21: flips(
    (frame) => frame.length - 16,
    (frame) => frame.length,
  ),
  af22: tampers((frame) => Array.from({ length: 28 }, (_, cut) => frame.subarray(0, frame.length - cut - 1))),
  af23: () => isUnreadable(''),
  af24: () => isUnreadable('!!!!'),
  af25: async () => {
    await isUnreadable('Zm9v!')
    await isUnreadable(`${await newDev(KEY).encrypt('a secret')}!`)
  },
  af26: async () => {
    const encryptor = newDev(KEY)
    let ciphertext = ''
    while (!/[+/]/.test(ciphertext)) ciphertext = await encryptor.encrypt('a secret')
    await isUnreadable(ciphertext.replaceAll('+', '-').replaceAll('/', '_'))
  },
  af27: () => isUnreadable(randomBytes(11).toString('base64')),
  af28: () => isUnreadable(randomBytes(12).toString('base64')),
  af29: () => isUnreadable(randomBytes(27).toString('base64')),
  af30: async () => isUnreadable(await newDev(randomBytes(32)).encrypt('a secret')),
  af31: async () => isUnreadable(`vault:v1:${await newDev(KEY).encrypt('a secret')}`),
  af32: tampers((frame) => [Buffer.concat([frame, Buffer.alloc(1)])]),
  af33: async () => {
    const ciphertext = await newDev(KEY).encrypt('a secret')
    for (const space of [' ', '\n', '\t', '\r\n']) {
      await isUnreadable(ciphertext.slice(0, 8) + space + ciphertext.slice(8))
      await isUnreadable(ciphertext + space)
    }
  },
}

function primitive(key: Buffer, iv: Buffer, aad: Buffer, ct: Buffer, tag: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, iv)
  decipher.setAAD(aad).setAuthTag(tag)
  try {
    return Buffer.concat([decipher.update(ct), decipher.final()])
  } catch {
    return undefined
  }
}

interface GcmRow {
  readonly id: string
  readonly key: string
  readonly iv: string
  readonly iv_bits: number
  readonly aad: string
  readonly msg: string
  readonly ct: string
  readonly tag: string
  readonly result: string
  readonly flags: readonly string[]
}

interface HmacRow {
  readonly id: string
  readonly key: string
  readonly msg: string
  readonly tag: string
  readonly tag_bits: number
  readonly result: string
}
