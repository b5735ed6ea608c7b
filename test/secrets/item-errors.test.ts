import { expect } from 'chai'
import { RequestContext } from '../../lib/context.js'
import { AshlarError } from '../../lib/errors.js'
import { errorForLog } from '../../lib/faults/driver-fault.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newVaultTransit, type VaultTransit } from '../../lib/secrets/vault-transit.js'
import { Specimen } from '../support/entities/specimen.js'
import { TransitServer } from '../support/servers/transit-server.js'
import { INDEX_KEY, rejects } from './transit-rejections.js'

const CIPHERTEXT = 'vault:v1:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQQ=='
const TOO_LONG = 'failed to RSA encrypt the plaintext: message too long for RSA key size'
const DERIVED = "missing 'context' for key derivation; the key was created using a derived key"

interface Body {
  readonly plaintext?: string
  readonly batch_input?: readonly { readonly plaintext: string }[]
}

describe('an item that a transit server rejects', () => {
  let server: TransitServer
  let transit: VaultTransit
  beforeEach(async () => {
    server = await TransitServer.start('secrets')
    transit = newVaultTransit(server.addr, server.token, 'secrets', { indexKey: INDEX_KEY, warn: () => {} })
  })
  afterEach(async () => {
    await transit.close()
    await server.close()
  })

  /** Texts of more than 100 bytes fail: as a whole with this status, or as an item. */
  const failLong = (status: number) => {
    server.misbehaviour = ({ body }, response) => {
      const { plaintext = '', batch_input: batch } = JSON.parse(body) as Body
      const isLong = (text: string) => Buffer.from(text, 'base64').length > 100
      const all = batch?.map((item) =>
        isLong(item.plaintext) ? { error: TOO_LONG } : { ciphertext: CIPHERTEXT },
      )
      const hasFailed = all === undefined ? isLong(plaintext) : all.some((item) => 'error' in item)
      const data = all === undefined ? { ciphertext: CIPHERTEXT } : { batch_results: all }
      response.writeHead(hasFailed ? status : 200)
      response.end(
        JSON.stringify(hasFailed && all === undefined ? { errors: [`1 error:\n${TOO_LONG}`] } : { data }),
      )
    }
  }

  for (const status of [400, 500])
    it(`fails its own create alone with status ${status}, and the log names its field`, async () => {
      failLong(status)
      const specimens = new (memoryRepositoryOf(Specimen))({
        encryptor: transit,
        minter: new CredentialMinter(),
      })
      const create = (id: string, webhookSecret: string) =>
        RequestContext.as({ tenant: 'acme', subject: 'ada' }, () =>
          specimens.create({ id, code: id, title: 'x', webhookSecret }),
        ).then(
          () => 'created',
          (error: unknown) => error,
        )
      const [first, second, third] = await Promise.all([
        create('a', 'short-one'),
        create('b', 'k'.repeat(300)),
        create('c', 'short-two'),
      ])
      expect([first, third]).to.deep.equal(['created', 'created'])
      expect(second).to.be.instanceOf(AshlarError).and.to.have.property('code', 'INTERNAL')
      if (status === 500) expect(errorForLog(second)).to.have.property('field', 'webhook_secret')
    })

  it('is a batch of one after a status 500, to learn whether the item or the server failed', async () => {
    failLong(500)
    expect((await rejects(transit.encrypt('k'.repeat(200)))).item).to.equal(0)
    server.misbehaviour = (_, response) => void response.writeHead(500).end('{"errors":["internal error"]}')
    const error = await rejects(transit.encrypt('short-one'))
    expect([error.code, error.item]).to.deep.equal(['UNAVAILABLE', undefined])
  })

  it('has the advice for a derived key in batches and rewraps too', async () => {
    server.misbehaviour = ({ body }, response) => {
      const { batch_input: batch = [] } = JSON.parse(body) as Body
      response
        .writeHead(400)
        .end(
          JSON.stringify(
            batch.length === 0
              ? { errors: [DERIVED] }
              : { data: { batch_results: batch.map(() => ({ error: DERIVED })) } },
          ),
        )
    }
    const texts = ['secret-one', 'secret-two']
    for (const call of [
      () => transit.encrypt('secret-one'),
      () => transit.encryptBatch(texts),
      () => transit.rewrap(CIPHERTEXT),
      () => transit.rewrapBatch([CIPHERTEXT, CIPHERTEXT]),
    ])
      expect((await rejects(call())).message).to.include('use a key created without "derived"')
  })

  it('is shown without a secret, inside of other words too, and without text for a short one', async () => {
    const echo = (text: string) => {
      server.misbehaviour = (_, response) => void response.writeHead(400).end(`{"errors":["${text}"]}`)
    }
    echo('bad value xsecret-oney')
    expect((await rejects(transit.encrypt('secret-one'))).body).to.include('x[redacted]y')
    echo('bad value redacted')
    expect((await rejects(transit.encryptBatch(['redacted', 'bad valu']))).body).to.equal(
      '{"errors":["[redacted]e [redacted]"]}',
    )
    echo('bad value key')
    const short = await rejects(transit.encrypt('key'))
    expect([short.statusCode, short.body]).to.deep.equal([
      400,
      '(the text is omitted, because a short secret was sent)',
    ])
  })
})

describe('a transit server that is busy', () => {
  it('ends the call at once if the wait would be longer than its time', async () => {
    const server = await TransitServer.start('secrets')
    const options = { indexKey: INDEX_KEY, timeoutMs: 900 }
    const transit = newVaultTransit(server.addr, server.token, 'secrets', options)
    server.quota = 0
    try {
      const error = await rejects(transit.encrypt('secret-one'))
      expect([error.code, error.statusCode]).to.deep.equal(['UNAVAILABLE', 429])
      expect(server.requests).to.have.length(1)
    } finally {
      await transit.close()
      await server.close()
    }
  })
})
