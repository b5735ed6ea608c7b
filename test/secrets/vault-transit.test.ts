import { expect } from 'chai'
import { createHmac, randomBytes } from 'node:crypto'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { inspect, promisify } from 'node:util'
import { DeclarationError } from '../../lib/errors.js'
import { isDevEncryptor } from '../../lib/secrets/encryptor.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import { newVaultTransit, type VaultTransit } from '../../lib/secrets/vault-transit.js'
import { encryptorConformance } from '../conformance/encryptor.js'
import { INDEX_KEY, PLAINTEXT, rejects, Thief } from './transit-rejections.js'
import { compiled } from '../support/root.js'
import { leftOut } from '../support/running/summary.js'
import { TransitServer } from '../support/servers/transit-server.js'

describe('newVaultTransit', () => {
  describe('against a transit server in this process', () => {
    encryptorConformance(async () => {
      const server = await TransitServer.start('secrets', 'others')
      const { addr, token } = server
      return {
        encryptor: newVaultTransit(addr, token, 'secrets', { indexKey: INDEX_KEY }),
        twin: newVaultTransit(`${addr}/`, token, 'secrets', { indexKey: INDEX_KEY }),
        stranger: newVaultTransit(addr, token, 'others', { indexKey: randomBytes(32) }),
        keyMaterial: [token, INDEX_KEY.toString('hex')],
        tearDown: () => server.close(),
      }
    })
  })

  describe('against a real Vault or OpenBao', () => {
    const { VAULT_ADDR: addr, VAULT_TOKEN: token } = process.env
    if (addr === undefined || token === undefined) {
      it('is left out: VAULT_ADDR and VAULT_TOKEN are not set', function () {
        leftOut('transit against a real server', 'VAULT_ADDR and VAULT_TOKEN are not set')
        this.skip()
      })
      return
    }
    encryptorConformance(async () => {
      const name = `ashlar-test-${randomBytes(6).toString('hex')}`
      for (const key of [name, `${name}-other`]) await makeKey(addr, token, key)
      return {
        encryptor: newVaultTransit(addr, token, name, { indexKey: INDEX_KEY }),
        twin: newVaultTransit(addr, token, name, { indexKey: INDEX_KEY }),
        stranger: newVaultTransit(addr, token, `${name}-other`, { indexKey: randomBytes(32) }),
        keyMaterial: [token],
      }
    })
  })

  describe('with a server of its own', () => {
    let server: TransitServer
    let transit: VaultTransit
    before(async () => (server = await TransitServer.start('secrets', 'k.e-y_1')))
    after(() => server.close())
    beforeEach(() => {
      Object.assign(server, { misbehaviour: undefined, isSealed: false, quota: undefined })
      server.requests.length = 0
      transit = newVaultTransit(server.addr, server.token, 'secrets', {
        indexKey: INDEX_KEY,
        timeoutMs: 5000,
      })
    })

    it('sends what Vault expects and nothing else', async () => {
      const ciphertext = await transit.encrypt('é')
      await transit.decrypt(ciphertext)
      await transit.rewrap(ciphertext)
      await transit.encryptBatch(['a', 'b'], { associatedData: 'x' })
      expect(server.requests.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
        'POST /v1/transit/encrypt/secrets',
        'POST /v1/transit/decrypt/secrets',
        'POST /v1/transit/rewrap/secrets',
        'POST /v1/transit/encrypt/secrets',
      ])
      expect(server.requests.map(({ body }) => JSON.parse(body) as unknown)).to.deep.equal([
        { plaintext: 'w6k=' },
        { ciphertext },
        { ciphertext },
        {
          batch_input: [
            { plaintext: 'YQ==', associated_data: 'eA==' },
            { plaintext: 'Yg==', associated_data: 'eA==' },
          ],
        },
      ])
      for (const { headers } of server.requests) {
        expect(headers['x-vault-token']).to.equal(server.token)
        expect(headers['content-type']).to.equal('application/json')
        expect(headers['x-vault-request']).to.equal('true')
        expect(headers).not.to.have.any.keys('cookie', 'authorization', 'x-vault-namespace')
      }
    })

    it('asks under another mount and namespace when told to', async () => {
      const { addr, token } = server
      const other = newVaultTransit(addr, token, 'k', {
        indexKey: INDEX_KEY,
        mount: 'kms/transit',
        namespace: 'a/b',
      })
      await rejects(other.encrypt('x'))
      expect(server.requests[0]?.url).to.equal('/v1/kms/transit/encrypt/k')
      expect(server.requests[0]?.headers['x-vault-namespace']).to.equal('a/b')
    })

    it('keeps the path of the address', async () => {
      const behind = newVaultTransit(`${server.addr}/vault/`, server.token, 'k', { indexKey: INDEX_KEY })
      await rejects(behind.encrypt('x'))
      expect(server.requests.map(({ url }) => url)).to.include('/vault/v1/transit/encrypt/k')
    })

    it('rewraps under the latest key version, without the plaintext', async () => {
      const old = await transit.encrypt(PLAINTEXT)
      const more = await transit.encryptBatch(['a', 'b'])
      server.rotate('secrets')
      server.requests.length = 0
      const rewrapped = await transit.rewrap(old)
      const rewrappedMore = await transit.rewrapBatch(more)
      for (const { body } of server.requests) expect(body).not.to.contain('plaintext')
      for (const ciphertext of [rewrapped, ...rewrappedMore]) expect(ciphertext).to.match(/^vault:v2:/)
      server.setMinDecryptionVersion('secrets', 2)
      expect(await transit.decrypt(rewrapped)).to.equal(PLAINTEXT)
      expect(await transit.decryptBatch(rewrappedMore)).to.deep.equal(['a', 'b'])
      expect((await rejects(transit.decrypt(old))).body).to.contain('too old')
      server.setMinDecryptionVersion('secrets', 0)
    })

    it('sends large batches in parts', async () => {
      const plaintexts = Array.from({ length: 1001 }, (_, index) => String(index))
      expect(await transit.decryptBatch(await transit.encryptBatch(plaintexts))).to.deep.equal(plaintexts)
      expect(server.requests.length).to.equal(12)
      const bound = { associatedData: 'x' }
      server.requests.length = 0
      const many = await transit.encryptBatch(plaintexts.slice(0, 500), bound)
      expect(await transit.decryptBatch(many, bound)).to.deep.equal(plaintexts.slice(0, 500))
      expect(server.requests.length).to.equal(10)
      expect(await transit.rewrapBatch(await transit.encryptBatch(plaintexts))).to.have.length(1001)
      server.requests.length = 0
      expect(
        (await transit.encryptBatch(Array.from({ length: 5 }, () => 'x'.repeat(400_000)))).length,
      ).to.equal(5)
      expect(server.requests.length).to.equal(3)
    })

    it('hashes here, without a call', async () => {
      expect(await transit.hash('x')).to.equal(await newDev(INDEX_KEY).hash('x'))
      expect(server.requests).to.deep.equal([])
    })

    it('is not a development part', () => expect(isDevEncryptor(transit)).to.equal(false))

    it('shows nothing secret when it is printed', () => {
      expect(inspect(transit, { depth: 10, showHidden: true })).not.to.contain(server.token)
    })

    it('reads no environment variable and writes no debug log', async () => {
      const thief = await Thief.start()
      try {
        const file = new URL(`file://${join(compiled, 'lib', 'secrets', 'vault-transit.js')}`).href
        const script = `import(${JSON.stringify(file)}).then(async ({ newVaultTransit }) => {
          const [addr, token] = process.argv.slice(1)
          const transit = newVaultTransit(addr, token, 'secrets', { indexKey: Buffer.alloc(32) })
          process.stdout.write(await transit.decrypt(await transit.encrypt('one secret')))
        })`
        const [proxy, token] = [thief.addr, 'hvs.from-environment']
        const env = {
          ...{
            PATH: process.env.PATH,
            DEBUG: '*',
            VAULT_ADDR: proxy,
            VAULT_TOKEN: token,
            VAULT_NAMESPACE: 'ns',
          },
          ...{
            VAULT_PREFIX: '/prefix',
            VAULT_SKIP_VERIFY: '1',
            HTTP_PROXY: proxy,
            http_proxy: proxy,
            ALL_PROXY: proxy,
          },
        }
        const args = ['-e', script, server.addr, server.token]
        const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env })
        expect(stdout).to.equal('one secret')
        for (const secret of ['one secret', Buffer.from('one secret').toString('base64'), server.token]) {
          expect(stderr).not.to.contain(secret)
        }
        expect(thief.seen).to.deep.equal([])
        for (const { url, headers } of server.requests) {
          expect(url).to.match(/^\/v1\/transit\/(en|de)crypt\/secrets$/)
          expect(headers['x-vault-token']).to.equal(server.token)
          expect(headers).not.to.have.property('x-vault-namespace')
        }
        expect(server.requests.length).to.equal(2)
      } finally {
        await thief.close()
      }
    })

    it('uses another fetch when given one', async () => {
      const calls: RequestInit[] = []
      const spying: typeof fetch = (input, init) => (calls.push(init ?? {}), fetch(input, init))
      const custom = newVaultTransit(server.addr, server.token, 'k.e-y_1', {
        indexKey: INDEX_KEY,
        fetch: spying,
      })
      expect(await custom.decrypt(await custom.encrypt('x'))).to.equal('x')
      // Encrypt, decrypt, and how long the token lives.
      expect(calls.map(({ redirect }) => redirect)).to.deep.equal(['manual', 'manual', 'manual'])
    })
  })

  describe('without an index key', () => {
    it('keys its hash on the SHA-256 of the token', async () => {
      const transit = newVaultTransit('http://127.0.0.1:1', 'hvs.fixed-token', 'k', { warn: () => undefined })
      expect(await transit.hash('schlüssel 🔑')).to.equal('XnAeD427JzPBmP8OPQolHsiEh5Vjbnqpge+8p95dgH0=')
    })

    it('warns once, when it hashes, without the token', async () => {
      const warnings: string[] = []
      const transit = newVaultTransit('http://127.0.0.1:1', 'hvs.t', 'k', {
        warn: (text) => warnings.push(text),
      })
      expect(warnings).to.deep.equal([])
      await transit.hash('a')
      await transit.hash('b')
      expect(warnings.length).to.equal(1)
      expect(warnings[0]).to.contain('indexKey').and.not.to.contain('hvs.t')
    })

    it('warns through the process by default', async () => {
      const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
      await newVaultTransit('http://127.0.0.1:1', 'hvs.t', 'k').hash('a')
      expect(await warned).to.include({ name: 'AshlarWarning', code: 'ASHLAR_TRANSIT' })
    })

    it('does not warn with one, which may be text', async () => {
      const key = 'k'.repeat(32)
      const warn = (): never => expect.fail('it warned')
      const transit = newVaultTransit('http://127.0.0.1:1', 'hvs.t', 'k', { indexKey: key, warn })
      expect(await transit.hash('a')).to.equal(createHmac('sha256', key).update('a').digest('base64'))
    })
  })

  describe('refuses at once', () => {
    const addr = 'http://127.0.0.1:8200'
    const wrong: [name: string, make: () => unknown, message: string][] = [
      ...[
        '',
        'localhost:8200',
        '127.0.0.1:8200',
        'ftp://vault',
        'file:///etc',
        'http://',
        'http://u:p@vault',
        `${addr}?x`,
      ].map((bad): [string, () => unknown, string] => [
        `the address '${bad}'`,
        () => newVaultTransit(bad, 't', 'k'),
        'addr:',
      ]),
      ...[' ', 'a b', 'tok\nen', 'tök', 'tok\r\nX-Evil: 1'].map((bad): [string, () => unknown, string] => [
        `the token ${JSON.stringify(bad)}`,
        () => newVaultTransit(addr, bad, 'k'),
        'token:',
      ]),
      ...['', '.', '..', 'a/b', '../keys', 'a b', 'a?b', 'a#b', '%2e%2e', 'k\n', 'ké', '&#x2F;'].map(
        (bad): [string, () => unknown, string] => [
          `the key name ${JSON.stringify(bad)}`,
          () => newVaultTransit(addr, 't', bad),
          'keyName:',
        ],
      ),
      ...['', '/', 'a//b', '..', 'a/../b', 'a b'].map((mount): [string, () => unknown, string] => [
        `the mount '${mount}'`,
        () => newVaultTransit(addr, 't', 'k', { mount }),
        'mount:',
      ]),
      ...[0, -1, 1.5, NaN, Infinity, 600_001].map((timeoutMs): [string, () => unknown, string] => [
        `a timeout of ${timeoutMs}`,
        () => newVaultTransit(addr, 't', 'k', { timeoutMs }),
        'timeoutMs:',
      ]),
      [
        'an index key of 31 bytes',
        () => newVaultTransit(addr, 't', 'k', { indexKey: Buffer.alloc(31) }),
        'indexKey:',
      ],
      [
        'a namespace with a line break',
        () => newVaultTransit(addr, 't', 'k', { namespace: 'a\n' }),
        'namespace:',
      ],
      [
        'a token that changes, without an index key',
        () => newVaultTransit(addr, () => 't', 'k'),
        'indexKey:',
      ],
      ['no token, without an index key', () => newVaultTransit(addr, '', 'k'), 'indexKey:'],
      [
        'a token beside a file of one',
        () => newVaultTransit(addr, 't', 'k', { indexKey: Buffer.alloc(32), tokenFile: '/run/token' }),
        'tokenFile:',
      ],
      ['a token that is missing', () => newVaultTransit(addr, undefined as unknown as string, 'k'), 'token:'],
      [
        'a key name that is missing',
        () => newVaultTransit(addr, 't', undefined as unknown as string),
        'keyName:',
      ],
    ]
    for (const [name, make, message] of wrong) {
      it(name, () => expect(make).to.throw(DeclarationError, message))
    }

    it('everything that is wrong together, without the token', () => {
      const make = () => newVaultTransit('vault', 'my token', 'a/b', { timeoutMs: 0 })
      expect(make).to.throw(DeclarationError).with.property('problems').with.lengthOf(4)
      expect(make).to.throw(/^((?!my token).)*$/s)
    })
  })
})

async function makeKey(addr: string, token: string, name: string): Promise<void> {
  const headers = { 'X-Vault-Token': token, 'Content-Type': 'application/json' }
  const response = await fetch(`${addr}/v1/transit/keys/${name}`, { method: 'POST', headers, body: '{}' })
  if (!response.ok) throw new TypeError(`the transit key could not be made: ${response.status}`)
}
