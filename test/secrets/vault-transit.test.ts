import { expect } from 'chai'
import { createHmac, randomBytes } from 'node:crypto'
import { execFile } from 'node:child_process'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inspect, promisify } from 'node:util'
import { Cancelled, DeclarationError, TransitError } from '../../lib/errors.js'
import { isDevEncryptor } from '../../lib/secrets/encryptor.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import { newVaultTransit, type VaultTransit } from '../../lib/secrets/vault-transit.js'
import { encryptorConformance } from '../conformance/encryptor.js'
import { compiled } from '../support/root.js'
import { leftOut } from '../support/summary.js'
import { type Misbehaviour, TransitServer } from '../support/transit-server.js'

const INDEX_KEY = Buffer.alloc(32, 7)
const PLAINTEXT = 'whsec "quoted" <secret> é'

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
      expect(server.requests[0]?.url).to.equal('/vault/v1/transit/encrypt/k')
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
      expect(server.requests.length).to.equal(6)
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

    const answers: [name: string, status: number, text: string, arrange: () => VaultTransit][] = [
      ['sealed', 503, 'Vault is sealed', () => ((server.isSealed = true), transit)],
      ['rate limited', 429, 'rate limit quota exceeded', () => ((server.quota = 0), transit)],
      [
        'asked with a wrong token',
        403,
        'permission denied',
        () => newVaultTransit(server.addr, 'no', 'secrets', at()),
      ],
      ['asked for an unknown key', 400, 'encryption key not found', () => withKey('unknown')],
      ['asked at a wrong mount', 404, 'no handler for route', () => withMount('elsewhere')],
    ]
    for (const [name, status, text, arrange] of answers) {
      it(`is an error with status ${status} and body when the server is ${name}`, async () => {
        const encryptor = arrange()
        for (const call of everyCall(encryptor)) {
          const error = await rejects(call())
          expect(error.statusCode).to.equal(status)
          expect(error.body).to.contain(text)
          expect(error.message).to.contain(String(status)).and.to.contain(text)
          expect(JSON.parse(error.body)).to.have.property('errors').with.lengthOf(1)
          const isBusy = status === 429 || status === 503
          expect([error.code, error.wireMessage]).to.deep.equal(
            isBusy ? ['UNAVAILABLE', 'temporarily unavailable'] : ['INTERNAL', 'internal error'],
          )
        }
      })
    }
    const everyCall = (encryptor = transit) => [
      () => encryptor.encrypt(PLAINTEXT),
      () => encryptor.decrypt('vault:v1:AAAA'),
      () => encryptor.rewrap('vault:v1:AAAA'),
      () => encryptor.encryptBatch([PLAINTEXT]),
      () => encryptor.decryptBatch(['vault:v1:AAAA']),
      () => encryptor.rewrapBatch(['vault:v1:AAAA']),
    ]
    const at = () => ({ indexKey: INDEX_KEY })
    const withKey = (name: string) => newVaultTransit(server.addr, server.token, name, at())
    const withMount = (mount: string) =>
      newVaultTransit(server.addr, server.token, 'secrets', { ...at(), mount })

    const misbehaviours: [
      name: string,
      misbehave: Misbehaviour,
      status: number | undefined,
      message: string,
    ][] = [
      ['HTML for 200', text(200, '<html>login</html>', 'text/html'), 200, "not JSON with an object 'data'"],
      [
        'HTML for 502',
        text(502, '<html>bad gateway</html>', 'text/html'),
        502,
        'answered 502: <html>bad gateway',
      ],
      ['cut JSON', text(200, '{"data":{"ciphertext":"vault:v1:A'), 200, 'not JSON'],
      ['nothing at all', text(200, ''), 200, 'not JSON'],
      ['204', text(204, ''), 204, 'answered 204'],
      ['201', json(201, { data: { ciphertext: 'vault:v1:AA', plaintext: 'AA==' } }), 201, 'answered 201'],
      ['null', json(200, null), 200, 'not JSON with'],
      ['no data', json(200, { warnings: [] }), 200, 'not JSON with'],
      ['null for data', json(200, { data: null }), 200, 'not JSON with'],
      ['empty data', json(200, { data: {} }), 200, 'the answer has no'],
      ['numbers for texts', json(200, { data: { ciphertext: 1, plaintext: 1 } }), 200, 'the answer has no'],
      [
        'empty ciphertext, no base64',
        json(200, { data: { ciphertext: '', plaintext: '%' } }),
        200,
        'the answer has no',
      ],
      ['plaintext that is no UTF-8', json(200, { data: { plaintext: 'wyg=' } }), 200, 'the answer has no'],
      ['a broken connection', (_, response) => response.destroy(), undefined, 'the connection failed'],
      ['an error of a megabyte', text(500, 'x'.repeat(1 << 20)), 500, 'answered 500: (a long body)'],
      ['an error of 5000 characters', text(500, 'x'.repeat(5000)), 500, `${'x'.repeat(1024)}…`],
      [
        'an error with control characters',
        text(500, 'a\n\u001b[31mb\r\n\u2028c'),
        500,
        'answered 500: a [31mb c',
      ],
      [
        'an error that is not UTF-8',
        (_, response) => response.writeHead(500).end(Buffer.from([0xff])),
        500,
        '500: \ufffd',
      ],
    ]
    for (const [name, misbehave, status, message] of misbehaviours) {
      it(`is an error when the server answers ${name}`, async () => {
        server.misbehaviour = misbehave
        for (const call of everyCall()) {
          const error = await rejects(call())
          expect(error.message).to.contain(message)
          expect(error.statusCode).to.equal(status)
          expect(error.message.length).to.be.lessThan(1200)
        }
      })
    }

    const badBatches: [name: string, data: unknown, message: string][] = [
      ['no results', {}, "has not 2 'batch_results'"],
      ['an object for the list', { batch_results: {} }, "has not 2 'batch_results'"],
      [
        'one result for two',
        { batch_results: [{ ciphertext: 'a', plaintext: '' }] },
        "has not 2 'batch_results'",
      ],
      ['null results', { batch_results: [null, null] }, 'the answer has no'],
      [
        'an error for one',
        { batch_results: [{ ciphertext: 'a', plaintext: '' }, { error: 'bad item' }] },
        'item 1: bad item',
      ],
    ]
    for (const [name, data, message] of badBatches) {
      it(`is an error when a batch is answered with ${name}`, async () => {
        server.misbehaviour = json(200, { data })
        const pair = ['vault:v1:AAAA', 'vault:v1:AAAA']
        for (const call of [transit.encryptBatch, transit.decryptBatch, transit.rewrapBatch]) {
          expect((await rejects(call(pair))).message).to.contain(message)
        }
      })
    }

    it('is an error when one item of a rewrap fails although the server says 200', async () => {
      const good = await transit.encrypt('x')
      const error = await rejects(transit.rewrapBatch([good, 'junk']))
      expect(error.message).to.equal('transit: rewrap: item 1: invalid ciphertext: no prefix')
    })

    it('keeps what was decrypted out of the error for the rest of a batch', async () => {
      const good = await transit.encrypt(PLAINTEXT)
      const error = await rejects(transit.decryptBatch([good, 'junk']))
      expect(error.statusCode).to.equal(400)
      expect(error.body).to.contain('invalid ciphertext: no prefix').and.to.contain('[redacted]')
    })

    const echoes: [name: string, echo: (body: string, token: string) => string][] = [
      ['the request', (body) => body],
      ['the request in JSON', (body) => JSON.stringify({ errors: [`bad request: ${body}`] })],
      ['the token', (_, token) => JSON.stringify({ errors: [`token ${token} has no policy`] })],
      ['the plaintext', () => `cannot store ${PLAINTEXT}`],
      ['the plaintext in JSON', () => JSON.stringify({ errors: [PLAINTEXT] })],
      ['a decrypted value', () => `{ "plaintext" : "${Buffer.from(PLAINTEXT).toString('base64')}" , "x": 1`],
    ]
    for (const [name, echo] of echoes) {
      for (const status of [200, 400]) {
        it(`repeats nothing secret when the server answers ${status} with ${name}`, async () => {
          server.misbehaviour = ({ body }, response) =>
            text(status, echo(body, server.token))({ body } as never, response)
          await rejects(transit.encrypt(PLAINTEXT))
          await rejects(transit.encryptBatch(['x', PLAINTEXT]))
          // Of what it decrypts only the server knows; the field's name is what tells us.
          if (!name.startsWith('the plaintext')) await rejects(transit.decrypt('vault:v1:AAAA'))
        })
      }
    }

    it('gives up on a server that does not answer', async () => {
      server.misbehaviour = () => undefined
      const hasty = newVaultTransit(server.addr, server.token, 'secrets', {
        indexKey: INDEX_KEY,
        timeoutMs: 50,
      })
      const error = await rejects(hasty.encrypt(PLAINTEXT))
      expect(error.message).to.equal('transit: encrypt: no answer within 50 ms')
      expect([error.statusCode, error.code]).to.deep.equal([undefined, 'UNAVAILABLE'])
    })

    it('gives up on a server that never ends its answer', async () => {
      server.misbehaviour = (_, response) => void response.writeHead(200).write('{"data":')
      const hasty = newVaultTransit(server.addr, server.token, 'secrets', {
        indexKey: INDEX_KEY,
        timeoutMs: 50,
      })
      expect((await rejects(hasty.decrypt('vault:v1:AAAA'))).message).to.contain('no answer within 50 ms')
    })

    it('ends the request when its signal aborts', async () => {
      const controller = new AbortController()
      const isClosed = new Promise((resolve) => {
        server.misbehaviour = (_, response) => {
          response.on('close', resolve)
          controller.abort()
        }
      })
      const error = await transit
        .encrypt(PLAINTEXT, { signal: controller.signal })
        .catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(Cancelled)
      await isClosed
    })

    it('is an error when nothing listens', async () => {
      const gone = await TransitServer.start()
      const { addr } = gone
      await gone.close()
      const error = await rejects(
        newVaultTransit(addr, server.token, 'k', { indexKey: INDEX_KEY }).encrypt('x'),
      )
      expect(error.message).to.equal('transit: encrypt: the connection failed (ECONNREFUSED)')
    })

    for (const status of [301, 302, 303, 307, 308]) {
      it(`does not follow a redirect with ${status}, so the token stays`, async () => {
        const thief = await Thief.start()
        try {
          server.misbehaviour = (_, response) => response.writeHead(status, { location: thief.addr }).end()
          for (const call of everyCall()) {
            const error = await rejects(call())
            expect(error.statusCode).to.equal(status)
            expect(error.message).to.contain('redirects are not followed')
          }
          expect(thief.seen).to.deep.equal([])
        } finally {
          await thief.close()
        }
      })
    }

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
      expect(calls.map(({ redirect }) => redirect)).to.deep.equal(['manual', 'manual'])
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
      expect(await warned).to.include({ name: 'AshlarWarning', code: 'ASHLAR_TRANSIT_INDEX_KEY' })
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
      ...['', ' ', 'a b', 'tok\nen', 'tök', 'tok\r\nX-Evil: 1'].map(
        (bad): [string, () => unknown, string] => [
          `the token ${JSON.stringify(bad)}`,
          () => newVaultTransit(addr, bad, 'k'),
          'token:',
        ],
      ),
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

  async function rejects(attempt: Promise<unknown>): Promise<TransitError> {
    const error = await attempt.then(
      () => expect.fail('it was answered'),
      (reason: unknown) => reason,
    )
    expect(error).to.be.instanceOf(TransitError)
    const everything = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error)
    const spelled = [
      PLAINTEXT,
      JSON.stringify(PLAINTEXT).slice(1, -1),
      Buffer.from(PLAINTEXT).toString('base64'),
    ]
    for (const secret of ['hvs.', ...spelled]) expect(everything).not.to.contain(secret)
    expect((error as TransitError).wireMessage).not.to.match(/[0-9]|transit|vault/i)
    return error as TransitError
  }
})

function text(status: number, body: string, type = 'application/json'): Misbehaviour {
  return (_request, response) => void response.writeHead(status, { 'content-type': type }).end(body)
}

function json(status: number, body: unknown): Misbehaviour {
  return text(status, JSON.stringify(body))
}

/** A server that no request may reach; it remembers the headers of those that do. */
class Thief {
  readonly seen: IncomingHttpHeaders[] = []
  readonly #server = createServer((request, response) => {
    this.seen.push(request.headers)
    response.end('{"data":{"ciphertext":"vault:v1:stolen","plaintext":""}}')
  })

  static async start(): Promise<Thief> {
    const thief = new Thief()
    await new Promise<void>((resolve) => thief.#server.listen(0, '127.0.0.1', resolve))
    return thief
  }

  get addr(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function makeKey(addr: string, token: string, name: string): Promise<void> {
  const headers = { 'X-Vault-Token': token, 'Content-Type': 'application/json' }
  const response = await fetch(`${addr}/v1/transit/keys/${name}`, { method: 'POST', headers, body: '{}' })
  if (!response.ok) throw new TypeError(`the transit key could not be made: ${response.status}`)
}
