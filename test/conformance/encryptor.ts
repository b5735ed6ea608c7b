import { expect } from 'chai'
import { inspect } from 'node:util'
import { AshlarError, Cancelled, DeadlineExceeded, InvalidArgument } from '../../lib/errors.js'
import type { Encryptor } from '../../lib/secrets/encryptor.js'

/** What an implementation brings to be tested. */
export interface EncryptorSubject {
  readonly encryptor: Required<Omit<Encryptor, 'rewrapBatch'>>
  /** Another one with the same keys. */
  readonly twin: Encryptor
  /** One with other keys, for both encrypting and hashing. */
  readonly stranger: Encryptor
  /** What must stand in no error. */
  readonly keyMaterial: readonly string[]
  readonly tearDown?: () => Promise<void>
}

const PLAINTEXTS: Readonly<Record<string, string>> = {
  'an empty text': '',
  'one character': 'x',
  'text that looks like base64': 'Zm9v',
  'text that looks like a ciphertext': 'vault:v1:AAAA',
  'every plane and a NUL': '日本語🚀é\u0000\uffff',
  'a byte order mark': '\ufeffmarked',
  'quotes, backslashes and line breaks': '"\\\r\n\t\u2028</script>',
  'combining characters as they are': 'e\u0301 é',
  '64 KiB': 'ab🔑'.repeat(10_923),
  '1 MiB': 'k'.repeat(1 << 20),
}

const SECRET = 'whsec-8f2d17c0'

/** What every encryptor does, whatever it is built on. */
export function encryptorConformance(setUp: () => Promise<EncryptorSubject>): void {
  let subject: EncryptorSubject
  before(async () => {
    subject = await setUp()
  })
  after(() => subject.tearDown?.())

  describe('encrypt and decrypt', () => {
    for (const [name, plaintext] of Object.entries(PLAINTEXTS)) {
      it(`returns ${name} unchanged after a round trip`, async () => {
        const { encryptor, twin } = subject
        const ciphertext = await encryptor.encrypt(plaintext)
        expect((await encryptor.decrypt(ciphertext)) === plaintext).to.equal(true)
        expect((await twin.decrypt(ciphertext)) === plaintext).to.equal(true)
      })
    }

    it('returns another ciphertext on every call', async () => {
      const { encryptor } = subject
      const ciphertexts = await Promise.all(Array.from({ length: 50 }, () => encryptor.encrypt(SECRET)))
      expect(new Set(ciphertexts).size).to.equal(50)
      for (const ciphertext of ciphertexts) {
        expect(ciphertext).not.to.contain(SECRET).and.not.to.contain(Buffer.from(SECRET).toString('base64'))
        expect(await encryptor.decrypt(ciphertext)).to.equal(SECRET)
      }
    })

    it('binds a ciphertext to its associated data', async () => {
      const { encryptor } = subject
      const ciphertext = await encryptor.encrypt(SECRET, { associatedData: 'widgets/1 é' })
      expect(await encryptor.decrypt(ciphertext, { associatedData: 'widgets/1 é' })).to.equal(SECRET)
      await rejects(subject, encryptor.decrypt(ciphertext, { associatedData: 'widgets/2' }))
      await rejects(subject, encryptor.decrypt(ciphertext))
      const unbound = await encryptor.encrypt(SECRET)
      await rejects(subject, encryptor.decrypt(unbound, { associatedData: 'widgets/1 é' }))
    })
  })

  describe('decrypt rejects, with nothing secret in the error,', () => {
    it('a ciphertext with any bit flipped', async () => {
      const { encryptor } = subject
      const [head, bytes] = split(await encryptor.encrypt(SECRET))
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = Buffer.from(bytes)
        flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
        await rejects(subject, encryptor.decrypt(head + flipped.toString('base64')))
      }
    })

    it('a ciphertext cut at either end or longer by a byte', async () => {
      const { encryptor } = subject
      const [head, bytes] = split(await encryptor.encrypt(SECRET))
      const cuts = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1)
      const changed = [
        ...cuts.map((cut) => bytes.subarray(0, cut)),
        ...cuts.map((cut) => bytes.subarray(cut)),
        Buffer.concat([bytes, Buffer.alloc(1)]),
        Buffer.concat([Buffer.alloc(1), bytes]),
      ]
      for (const frame of changed) await rejects(subject, encryptor.decrypt(head + frame.toString('base64')))
    })

    it('a ciphertext whose parts were re-ordered or mixed with those of another', async () => {
      const { encryptor } = subject
      const [head, one] = split(await encryptor.encrypt(SECRET))
      const [, other] = split(await encryptor.encrypt(SECRET))
      const parts = (frame: Buffer) =>
        [frame.subarray(0, 12), frame.subarray(12, -16), frame.subarray(-16)] as const
      const [nonce, body, tag] = parts(one)
      const [otherNonce, otherBody, otherTag] = parts(other)
      const mixed = [
        ...[
          [tag, body, nonce],
          [body, nonce, tag],
          [nonce, tag, body],
          [body, tag, nonce],
          [tag, nonce, body],
        ],
        ...[
          [otherNonce, body, tag],
          [nonce, otherBody, tag],
          [nonce, body, otherTag],
        ],
      ]
      for (const frame of mixed) {
        await rejects(subject, encryptor.decrypt(head + Buffer.concat(frame).toString('base64')))
      }
    })

    it('a ciphertext made with another key', async () => {
      await rejects(subject, subject.encryptor.decrypt(await subject.stranger.encrypt(SECRET)))
    })

    const junk = [
      '',
      ' ',
      '!!!!',
      'Zm9v!',
      'AAAA',
      'vault:v1:',
      'vault:v1:AAAA',
      'vault:',
      '\0',
      '\ud800',
      SECRET,
    ]
    for (const ciphertext of junk) {
      it(JSON.stringify(ciphertext), () => rejects(subject, subject.encryptor.decrypt(ciphertext)))
    }

    it('a ciphertext in the URL alphabet, with spaces, or without its padding', async () => {
      const { encryptor } = subject
      // Two bytes more than a multiple of three: there is padding to take away.
      const [head, bytes] = split(await encryptor.encrypt('x'.repeat(31)))
      const text = bytes.toString('base64')
      expect(text).to.match(/=$/)
      for (const spelling of [` ${text}`, `${text} `, `${text.slice(0, 8)} ${text.slice(8)}`]) {
        await rejects(subject, encryptor.decrypt(head + spelling))
      }
      await rejects(subject, encryptor.decrypt(head + text.replace(/=+$/, '')))
      const url = text.replace(/^../, '-_')
      await rejects(subject, encryptor.decrypt(head + url))
    })
  })

  describe('hash', () => {
    it('is the same for the same plaintext and keys, and 32 bytes of base64', async () => {
      for (const plaintext of [SECRET, '', 'é🚀']) {
        const hash = await subject.encryptor.hash(plaintext)
        expect(hash).to.match(/^[A-Za-z0-9+/]{43}=$/)
        expect(await subject.encryptor.hash(plaintext)).to.equal(hash)
        expect(await subject.twin.hash(plaintext)).to.equal(hash)
      }
    })

    it('returns another hash for another plaintext and for another key', async () => {
      const { encryptor, stranger } = subject
      const near = [SECRET, `${SECRET} `, SECRET.toUpperCase(), `${SECRET}\0`, '', '\0', 'é', 'e\u0301']
      const hashes = await Promise.all(near.map((plaintext) => encryptor.hash(plaintext)))
      expect(new Set(hashes).size).to.equal(near.length)
      expect(await stranger.hash(SECRET)).not.to.equal(hashes[0])
    })
  })

  describe('in batches', () => {
    it('keeps the order, duplicates and empty texts included', async () => {
      const { encryptor } = subject
      const plaintexts = ['b', '', 'a', 'b', 'é🚀']
      const ciphertexts = await encryptor.encryptBatch(plaintexts)
      expect(new Set(ciphertexts).size).to.equal(plaintexts.length)
      expect(await encryptor.decryptBatch(ciphertexts)).to.deep.equal(plaintexts)
      for (const [index, ciphertext] of ciphertexts.entries()) {
        expect(await encryptor.decrypt(ciphertext)).to.equal(plaintexts[index])
      }
    })

    it('returns an empty batch for an empty one', async () => {
      expect(await subject.encryptor.encryptBatch([])).to.deep.equal([])
      expect(await subject.encryptor.decryptBatch([])).to.deep.equal([])
    })

    it('takes 1200 at once', async () => {
      const { encryptor } = subject
      const plaintexts = Array.from({ length: 1200 }, (_, index) => `secret ${index}`)
      expect(await encryptor.decryptBatch(await encryptor.encryptBatch(plaintexts))).to.deep.equal(plaintexts)
    })

    it('rejects as a whole when one ciphertext is bad, with none of the others in the error', async () => {
      const { encryptor } = subject
      const ciphertexts = await encryptor.encryptBatch([SECRET, SECRET, SECRET])
      await rejects(subject, encryptor.decryptBatch([ciphertexts[0] ?? '', 'junk', ciphertexts[2] ?? '']))
    })

    it('binds every ciphertext to the associated data', async () => {
      const { encryptor } = subject
      const options = { associatedData: 'row 7' }
      const ciphertexts = await encryptor.encryptBatch([SECRET, 'other'], options)
      expect(await encryptor.decryptBatch(ciphertexts, options)).to.deep.equal([SECRET, 'other'])
      await rejects(subject, encryptor.decryptBatch(ciphertexts))
    })
  })

  it('rejects text that cannot be encoded as UTF-8', async () => {
    const { encryptor } = subject
    for (const text of ['\ud800', 'a\udc00b', `${SECRET}\ud83d`]) {
      for (const attempt of [
        () => encryptor.encrypt(text),
        () => encryptor.hash(text),
        () => encryptor.encryptBatch(['fine', text]),
      ]) {
        expect(await rejects(subject, attempt())).to.be.instanceOf(InvalidArgument)
      }
    }
  })

  it('rejects at once when its signal is aborted, with our own reason where there is one', async () => {
    const { encryptor } = subject
    const ciphertext = await encryptor.encrypt(SECRET)
    const reason = new DeadlineExceeded()
    const calls = (signal: AbortSignal) => [
      () => encryptor.encrypt(SECRET, { signal }),
      () => encryptor.decrypt(ciphertext, { signal }),
      () => encryptor.hash(SECRET, { signal }),
      () => encryptor.encryptBatch([SECRET], { signal }),
      () => encryptor.decryptBatch([ciphertext], { signal }),
    ]
    for (const call of calls(AbortSignal.abort(reason)))
      expect(await rejects(subject, call())).to.equal(reason)
    for (const call of calls(AbortSignal.abort())) {
      expect(await rejects(subject, call())).to.be.instanceOf(Cancelled)
    }
  })

  it('works when taken off its object', async () => {
    const { encrypt, decrypt, hash } = subject.encryptor
    expect(await decrypt(await encrypt(SECRET))).to.equal(SECRET)
    expect(await hash(SECRET)).to.equal(await subject.encryptor.hash(SECRET))
  })
}

/** What comes before the base64 text of a ciphertext, and the bytes that text stands for. */
function split(ciphertext: string): [head: string, bytes: Buffer] {
  const at = ciphertext.lastIndexOf(':') + 1
  return [ciphertext.slice(0, at), Buffer.from(ciphertext.slice(at), 'base64')]
}

async function rejects(subject: EncryptorSubject, attempt: Promise<unknown>): Promise<AshlarError> {
  const error = await attempt.then(
    () => expect.fail('it succeeded'),
    (reason: unknown) => reason,
  )
  expect(error).to.be.instanceOf(AshlarError)
  const everything = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error)
  for (const secret of [SECRET, ...subject.keyMaterial]) {
    expect(everything).not.to.contain(secret).and.not.to.contain(Buffer.from(secret).toString('base64'))
  }
  return error as AshlarError
}
