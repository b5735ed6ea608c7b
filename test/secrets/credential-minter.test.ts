import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { Cancelled, InvalidArgument, SecretUnreadable } from '../../lib/errors.js'
import {
  CredentialMinter,
  DefaultPrefix,
  DefaultSecretBits,
  type MinterOptions,
} from '../../lib/secrets/credential-minter.js'
import type { StoredCredential } from '../../lib/secrets/stored-credential.js'
import { drill } from '../support/drill.js'
import { fixedBytes } from './fixed-bytes.js'

/** Computed once with another implementation; a change here makes stored credentials unreadable. */
const FIXED: [options: MinterOptions, token: string, stored: StoredCredential][] = [
  [
    {},
    'ib_yW5uCWCI4d2kRSyYLoCtQI_Z56qjNbGvcwxdXpf2iRbM4vxQ6aBQXLgbWHq27Jsclz',
    {
      publicId: 'yW5uCWCI4d2kRSyYLoCtQI',
      salt: 'opSJDWuQ8lbGRunwbm5aBQ==',
      hash: '1nRo6hnOfTqUOxl/q38sPSghtToMmvBBndWX5POHjhM=',
      spec: { algo: 'sha512-256' },
    },
  ],
  [
    { prefix: 'acme_live', spec: { algo: 'sha384' }, secretBits: 512 },
    'acme_live_yW5uCWCI4d2kRSyYLoCtQI_Z56qjNbGvcwxdXpf2iRbM4vxQ6aBQXLgbWHq27Jsclz11ibi5cODDjKuOC8lsmmS5j5p3TA0RjKDt0B4XNyEya',
    {
      publicId: 'yW5uCWCI4d2kRSyYLoCtQI',
      salt: '87yBzlmj90zHlZQjBpDWFA==',
      hash: 'PKD3Vnb0ZeZd3QIl8OyKZ/X4mMrJQBx61DYYmNEKzAC/Kc85sOAqXkJ3KUiIY1t0',
      spec: { algo: 'sha384' },
    },
  ],
  [
    { prefix: 'k-1', spec: { algo: 'pbkdf2-sha256:1000:24' }, secretBits: 128 },
    'k-1_yW5uCWCI4d2kRSyYLoCtQI_Z56qjNbGvcwxdXpf2iRbM4',
    {
      publicId: 'yW5uCWCI4d2kRSyYLoCtQI',
      salt: '1AZiC1ghz2glnMvuAgf/zQ==',
      hash: 'AThoKMp+5lqbaGbczrX8TZ4+WY9mkKze',
      spec: { algo: 'pbkdf2-sha256:1000:24' },
    },
  ],
]

describe('CredentialMinter', () => {
  for (const [options, token, stored] of FIXED) {
    it(`keeps its byte formats: ${stored.spec.algo}`, async () => {
      const minter = new CredentialMinter({ ...options, randomBytes: fixedBytes(1) })
      expect(await minter.mint()).to.deep.equal({ token, stored })
      expect(await new CredentialMinter().verify(minter.parse(token).secret, stored)).to.equal(true)
    })
  }

  it('is usable with no arguments', async () => {
    const minter = new CredentialMinter()
    const { token, stored } = await minter.mint()
    const { prefix, publicId, secret } = minter.parse(token)
    expect(prefix).to.equal(DefaultPrefix).and.to.equal('ib')
    expect([minter.secretBits, DefaultSecretBits]).to.deep.equal([256, 256])
    expect([publicId.length, secret.length]).to.deep.equal([22, 43])
    expect(publicId).to.equal(stored.publicId)
    expect(stored.spec).to.deep.equal({ algo: 'sha512-256' })
    expect(Buffer.from(stored.salt, 'base64').length).to.equal(16)
    expect(await minter.verify(secret, stored)).to.equal(true)
  })

  const lengths: [secretBits: number, characters: number][] = [
    ...(
      [
        [0, 43],
        [-1, 43],
        [128, 22],
        [192, 33],
        [256, 43],
        [512, 86],
        [2048, 344],
      ] as const
    ).map(([bits, characters]): [number, number] => [bits, characters]),
  ]
  for (const [secretBits, characters] of lengths) {
    it(`mints ${characters} characters for ${secretBits} bits, and reads them back`, async () => {
      const minter = new CredentialMinter({ secretBits })
      expect(minter.parse((await minter.mint()).token).secret.length).to.equal(characters)
    })
  }

  const wrong: [name: string, options: MinterOptions, message: string][] = [
    ['a prefix with a space', { prefix: 'a b' }, 'prefix'],
    ['a prefix with a line break', { prefix: 'ib\n' }, 'prefix'],
    ['a prefix that ends in the separator', { prefix: 'ib_' }, 'prefix'],
    ['a prefix that starts with the separator', { prefix: '_ib' }, 'prefix'],
    ['a prefix outside ASCII', { prefix: 'ïb' }, 'prefix'],
    ['a prefix of 33 characters', { prefix: 'x'.repeat(33) }, 'prefix'],
    ['an unknown algorithm', { spec: { algo: 'md5' } }, 'unsupported hash algorithm "md5"'],
    ['PBKDF2 out of bounds', { spec: { algo: 'pbkdf2-sha256:1000001:32' } }, 'unsupported hash algorithm'],
    ['127 bits', { secretBits: 127 }, 'secretBits'],
    ['2049 bits', { secretBits: 2049 }, 'secretBits'],
    ['half a bit', { secretBits: 256.5 }, 'secretBits'],
    ['NaN bits', { secretBits: NaN }, 'secretBits'],
  ]
  for (const [name, options, message] of wrong) {
    it(`refuses ${name} at once`, () =>
      expect(() => new CredentialMinter(options)).to.throw(RangeError, message))
  }

  it('takes an empty prefix and an empty algorithm for the defaults', () => {
    const { prefix, spec } = new CredentialMinter({ prefix: '', spec: { algo: '' } })
    expect([prefix, spec.algo]).to.deep.equal(['ib', 'sha512-256'])
  })

  it('shows nothing secret when it is printed', () => {
    expect(inspect(new CredentialMinter(), { showHidden: true })).not.to.match(/salt|hash:/)
  })
})

describe('CredentialMinter.parse', () => {
  const minter = new CredentialMinter()
  const parsed: [token: string, prefix: string, publicId: string, secret: string][] = [
    ['ib_a_b', 'ib', 'a', 'b'],
    ['a_b_c_d', 'a_b', 'c', 'd'],
    ['a__b_c_d', 'a__b', 'c', 'd'],
    ['acme-live_0_Z', 'acme-live', '0', 'Z'],
  ]
  for (const [token, ...parts] of parsed) {
    it(`splits ${token} from the right`, () =>
      expect(Object.values(minter.parse(token))).to.deep.equal(parts))
  }

  const malformed: Record<string, string> = {
    empty: '',
    'no separator': 'ib',
    'one separator': 'ib_x',
    'only separators': '__',
    'no public id': 'ib__x',
    'no secret': 'ib_x_',
    'no prefix': '_x_y',
    'a public id that is not base62': 'ib_x-y_z',
    'a secret that is not base62': 'ib_x_y+z',
    'a secret outside ASCII': 'ib_x_é',
    'a prefix outside ASCII': 'é_x_y',
    'a space before': ' ib_x_y',
    'a line break after': 'ib_x_y\n',
    'a NUL inside': 'ib_x_y\0',
    'a lone surrogate': 'ib_x_\ud800',
    'a prefix of 33 characters': `${'p'.repeat(33)}_x_y`,
    '1025 characters': `ib_x_${'y'.repeat(1020)}`,
    '10 MB of base62': `ib_x_${'y'.repeat(10_000_000)}`,
    '10 MB of separators': '_'.repeat(10_000_000),
  }
  for (const [name, token] of Object.entries(malformed)) {
    it(`refuses a token with ${name}, without repeating it`, () => {
      const message = 'the token is malformed: expected <prefix>_<public id>_<secret>'
      expect(() => minter.parse(token))
        .to.throw(InvalidArgument)
        .with.property('message', message)
    })
  }
  it('refuses what is not a string', () => {
    for (const value of [undefined, null, 1, {}, ['ib_x_y']]) {
      expect(() => minter.parse(value as string)).to.throw(InvalidArgument)
    }
  })
})

describe('CredentialMinter.verify', () => {
  const minter = new CredentialMinter()
  const [, token, stored] = FIXED[0] as (typeof FIXED)[0]
  const { secret } = minter.parse(token)

  it('verifies with the stored spec, whatever its own is', async () => {
    const other = new CredentialMinter({ spec: { algo: 'pbkdf2-sha256:10:32' }, prefix: 'other' })
    for (const [, fixed, credential] of FIXED) {
      expect(await other.verify(other.parse(fixed).secret, credential)).to.equal(true)
    }
  })

  const mismatches: Record<string, string> = {
    'another secret': 'x'.repeat(43),
    'no secret': '',
    'the secret and one more character': `${secret}x`,
    'the secret but its last character': secret.slice(0, -1),
    'the secret in another case': secret.toUpperCase(),
    'the whole token': token,
    'the stored hash': stored.hash,
    'a megabyte': 'x'.repeat(1_000_000),
    'a lone surrogate': '\ud800',
  }
  for (const [name, presented] of Object.entries(mismatches)) {
    it(`is false, without an error, for ${name}`, async () => {
      expect(await minter.verify(presented, stored)).to.equal(false)
    })
  }

  const malformed: [name: string, fields: object, message: string][] = [
    ['a salt with junk', { salt: 'dGSr97t9aiXmv6KUiQ1rkA==!' }, 'the stored salt is not base64'],
    ['a salt in the URL alphabet', { salt: '-3pM_Ligc5ke8NMCMY8Ejw==' }, 'the stored salt is not base64'],
    ['an empty salt', { salt: '' }, 'the stored salt is not base64'],
    ['no salt', { salt: null }, 'the stored salt is not base64'],
    ['a hash without its padding', { hash: stored.hash.slice(0, -1) }, 'the stored hash is not base64'],
    ['an empty hash', { hash: '' }, 'the stored hash is not base64'],
    ['no hash', { hash: undefined }, 'the stored hash is not base64'],
    ['a hash cut to 30 bytes', { hash: stored.hash.slice(0, 40) }, 'the stored hash has the wrong length'],
    ['a hash of another algorithm', { spec: { algo: 'sha384' } }, 'the stored hash has the wrong length'],
    ['an unknown algorithm', { spec: { algo: 'sha1' } }, 'unsupported hash algorithm "sha1"'],
    ['PBKDF2 for hours', { spec: { algo: 'pbkdf2-sha256:9999999:32' } }, 'unsupported hash algorithm'],
  ]
  for (const [name, fields, message] of malformed) {
    it(`is an error for ${name}, right secret or wrong`, async () => {
      const errors = await Promise.all(
        [secret, 'wrong'].map((presented) =>
          minter
            .verify(presented, { ...stored, ...fields } as StoredCredential)
            .catch((error: unknown) => error),
        ),
      )
      for (const error of errors) {
        expect(error).to.be.instanceOf(SecretUnreadable)
        expect((error as Error).message)
          .to.contain(message)
          .and.not.to.contain(secret)
      }
      expect((errors[0] as Error).message).to.equal((errors[1] as Error).message)
    })
  }

  it('gives up waiting for a derivation when its signal aborts', async () => {
    const slow = new CredentialMinter({ spec: { algo: 'pbkdf2-sha256:50000:32' } })
    const busy = [slow.verifyUnknown('x'), slow.verifyUnknown('x')]
    const controller = new AbortController()
    const given = slow.verifyUnknown('x', { signal: controller.signal }).catch((error: unknown) => error)
    controller.abort()
    expect(await given).to.be.instanceOf(Cancelled)
    expect(await Promise.all(busy)).to.deep.equal([false, false])
  })
})

describe('CredentialMinter.verifyUnknown', () => {
  for (const algo of ['sha512-256', 'sha384', 'pbkdf2-sha256:10:32']) {
    it(`is false after hashing with ${algo}`, async () => {
      expect(await new CredentialMinter({ spec: { algo } }).verifyUnknown('x'.repeat(43))).to.equal(false)
    })
  }
})

describe('Minted tokens', () => {
  const count = drill(50_000, 1_000_000)

  it(`are ${count} different ones that parse back, with every character equally frequent`, async () => {
    const minter = new CredentialMinter()
    const seen = new Set<string>()
    const publicIds = new Frequencies(22)
    const secrets = new Frequencies(43)
    for (let index = 0; index < count; index++) {
      const { token, stored } = await minter.mint()
      const { prefix, publicId, secret } = minter.parse(token)
      if (prefix !== 'ib' || publicId !== stored.publicId) expect.fail('a token does not parse back')
      seen.add(publicId)
      publicIds.add(publicId)
      secrets.add(secret)
      if (index % 1000 === 0 && !(await minter.verify(secret, stored))) expect.fail('a token does not verify')
    }
    expect(seen.size).to.equal(count)
    // 61 degrees of freedom: a uniform source goes beyond 170 once in a thousand million runs.
    for (const frequencies of [publicIds, secrets]) {
      expect(frequencies.chiSquare()).to.be.lessThan(170)
      expect(frequencies.worstPosition()).to.be.lessThan(170)
    }
  })

  it(`are not verified by any of ${count} other strings`, async () => {
    const minter = new CredentialMinter()
    const { token, stored } = await minter.mint()
    const { secret } = minter.parse(token)
    const pool = randomBytes(1 << 20).toString('latin1')
    for (let index = 0; index < count; index++) {
      const guess =
        index % 2 === 0 ? almost(secret, index) : pool.slice(index % 1_000_000, (index % 1_000_000) + 43)
      if (guess !== secret && (await minter.verify(guess, stored))) expect.fail('another string verified')
    }
  })
})

/** The secret with one character changed. */
function almost(secret: string, index: number): string {
  const at = index % secret.length
  return secret.slice(0, at) + ALPHABET.charAt((index / 2) % ALPHABET.length) + secret.slice(at + 1)
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Counts of each character at each position of texts of one length. */
class Frequencies {
  readonly #counts: Uint32Array
  #texts = 0

  constructor(readonly length: number) {
    this.#counts = new Uint32Array(length * ALPHABET.length)
  }

  add(text: string): void {
    if (text.length !== this.length) expect.fail(`${text.length} characters instead of ${this.length}`)
    this.#texts++
    for (let at = 0; at < text.length; at++) {
      const slot = at * ALPHABET.length + ALPHABET.indexOf(text.charAt(at))
      this.#counts[slot] = (this.#counts[slot] ?? 0) + 1
    }
  }

  chiSquare(): number {
    const totals = [...ALPHABET].map((_, character) =>
      this.#positions().reduce((sum, counts) => sum + (counts[character] ?? 0), 0),
    )
    return chiSquare(totals, (this.#texts * this.length) / ALPHABET.length)
  }

  worstPosition(): number {
    return Math.max(...this.#positions().map((counts) => chiSquare(counts, this.#texts / ALPHABET.length)))
  }

  #positions(): number[][] {
    return Array.from({ length: this.length }, (_, at) => [
      ...this.#counts.subarray(at * ALPHABET.length, (at + 1) * ALPHABET.length),
    ])
  }
}

const chiSquare = (counts: readonly number[], expected: number): number =>
  counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
