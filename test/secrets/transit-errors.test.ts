import { expect } from 'chai'
import { Cancelled } from '../../lib/errors.js'
import { newVaultTransit, type VaultTransit } from '../../lib/secrets/vault-transit.js'
import { type Misbehaviour, TransitServer } from '../support/servers/transit-server.js'
import { INDEX_KEY, PLAINTEXT, rejects, Thief } from './transit-rejections.js'

describe('newVaultTransit', () => {
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
    [
      'HTML for 200',
      text(200, '<html>login</html>', 'text/html'),
      200,
      'is not a JSON object: a proxy in front',
    ],
    [
      'HTML for 502',
      text(502, '<html>bad gateway</html>', 'text/html'),
      502,
      'returned 502: <html>bad gateway',
    ],
    ['cut JSON', text(200, '{"data":{"ciphertext":"vault:v1:A'), 200, 'is not a JSON object'],
    ['nothing at all', text(200, ''), 200, 'is not a JSON object'],
    ['204', text(204, ''), 204, 'returned 204'],
    ['201', json(201, { data: { ciphertext: 'vault:v1:AA', plaintext: 'AA==' } }), 201, 'returned 201'],
    ['null', json(200, null), 200, 'is not a JSON object'],
    ['no data', json(200, { warnings: [] }), 200, 'not JSON with'],
    ['null for data', json(200, { data: null }), 200, 'not JSON with'],
    ['empty data', json(200, { data: {} }), 200, 'the response has no'],
    ['numbers for texts', json(200, { data: { ciphertext: 1, plaintext: 1 } }), 200, 'the response has no'],
    [
      'empty ciphertext, no base64',
      json(200, { data: { ciphertext: '', plaintext: '%' } }),
      200,
      'the response has no',
    ],
    ['plaintext that is no UTF-8', json(200, { data: { plaintext: 'wyg=' } }), 200, 'the response has no'],
    ['a broken connection', (_, response) => response.destroy(), undefined, 'the connection failed'],
    ['an error of a megabyte', text(500, 'x'.repeat(1 << 20)), 500, 'returned 500: (a long body)'],
    ['an error of 5000 characters', text(500, 'x'.repeat(5000)), 500, `${'x'.repeat(1024)}…`],
    [
      'an error with control characters',
      text(500, 'a\n\u001b[31mb\r\n\u2028c'),
      500,
      'returned 500: a [31mb c',
    ],
    [
      'an error that is not UTF-8',
      (_, response) => response.writeHead(500).end(Buffer.from([0xff])),
      500,
      '500: \ufffd',
    ],
  ]
  for (const [name, misbehave, status, message] of misbehaviours) {
    it(`is an error when the server returns ${name}`, async () => {
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
    ['no results', {}, "has no list of 2 'batch_results'"],
    ['an object for the list', { batch_results: {} }, "has no list of 2 'batch_results'"],
    [
      'one result for two',
      { batch_results: [{ ciphertext: 'a', plaintext: '' }] },
      "has no list of 2 'batch_results'",
    ],
    ['null results', { batch_results: [null, null] }, 'the response has no'],
    [
      'an error for one',
      { batch_results: [{ ciphertext: 'vault:v1:a', plaintext: '' }, { error: 'bad item' }] },
      'item 1: bad item',
    ],
  ]
  for (const [name, data, message] of badBatches) {
    it(`is an error when the response to a batch is ${name}`, async () => {
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
    expect(error.message).to.equal('transit: decrypt: item 1: invalid ciphertext: no prefix')
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
      it(`repeats nothing secret when the server returns ${status} with ${name}`, async () => {
        server.misbehaviour = ({ body }, response) =>
          text(status, echo(body, server.token))({ body } as never, response)
        await rejects(transit.encrypt(PLAINTEXT))
        await rejects(transit.encryptBatch(['x', PLAINTEXT]))
        // Of what it decrypts only the server knows; the field's name is what tells us.
        if (!name.startsWith('the plaintext')) await rejects(transit.decrypt('vault:v1:AAAA'))
      })
    }
  }

  it('gives up on a server that does not respond', async () => {
    server.misbehaviour = () => undefined
    const hasty = newVaultTransit(server.addr, server.token, 'secrets', {
      indexKey: INDEX_KEY,
      timeoutMs: 50,
    })
    const error = await rejects(hasty.encrypt(PLAINTEXT))
    expect(error.message).to.equal('transit: encrypt: no response within 50 ms')
    expect([error.statusCode, error.code]).to.deep.equal([undefined, 'UNAVAILABLE'])
  })

  it('gives up on a server that never ends its response', async () => {
    server.misbehaviour = (_, response) => void response.writeHead(200).write('{"data":')
    const hasty = newVaultTransit(server.addr, server.token, 'secrets', {
      indexKey: INDEX_KEY,
      timeoutMs: 50,
    })
    expect((await rejects(hasty.decrypt('vault:v1:AAAA'))).message).to.contain('no response within 50 ms')
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
})

function text(status: number, body: string, type = 'application/json'): Misbehaviour {
  return (_request, response) => void response.writeHead(status, { 'content-type': type }).end(body)
}

function json(status: number, body: unknown): Misbehaviour {
  return text(status, JSON.stringify(body))
}
