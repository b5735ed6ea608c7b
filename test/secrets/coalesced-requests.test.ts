import { expect } from 'chai'
import { RequestContext } from '../../lib/context.js'
import { Cancelled, InvalidArgument, TransitError } from '../../lib/errors.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import type { Encryptor } from '../../lib/secrets/encryptor.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { CoalescedRequests, coalescedRequests } from '../../lib/secrets/coalesced-requests.js'
import { newVaultTransit, type VaultTransit } from '../../lib/secrets/vault-transit.js'
import { backends, describeOn, type OpenBackend, openWithTables } from '../support/databases/backends.js'
import { Specimen } from '../support/entities/specimen.js'
import { rejection } from '../support/rejection.js'
import { TransitServer } from '../support/servers/transit-server.js'
import { INDEX_KEY } from './transit-rejections.js'

const contextOf = (tenant: string) =>
  new RequestContext({ principal: { subject: 'a', tenant, groups: [], scopes: [] } })
const COUNT = 100
const each = <T>(fn: (index: number) => T): T[] => Array.from({ length: COUNT }, (_, index) => fn(index))

describeOn('secrets of many rows', backends, (backend) => {
  let opened: OpenBackend
  let server: TransitServer
  let transit: VaultTransit
  const open = (encryptor: Encryptor) => {
    const options = { encryptor, minter: new CredentialMinter() }
    const { dataSource } = opened
    return dataSource === undefined
      ? new (memoryRepositoryOf(Specimen))(options)
      : new (repositoryOf(Specimen))(dataSource, options)
  }
  let specimens: ReturnType<typeof open>
  const options = { context: contextOf('acme') }
  const aSpecimen = (id: string, webhookSecret = `whsec ${id}`) =>
    Object.assign(specimens.model.create(), { id, code: id, title: 'x', webhookSecret })

  before(async () => {
    opened = await openWithTables(backend, [Specimen])
    server = await TransitServer.start('secrets')
    transit = newVaultTransit(server.addr, server.token, 'secrets', { indexKey: INDEX_KEY })
    specimens = open(transit)
  })
  after(async () => {
    await transit?.close()
    await server?.close()
    await opened?.close()
  })
  beforeEach(() => void (server.requests.length = 0))
  const asked = () => server.requests.map(({ url }) => url.split('/')[3])

  it('takes one request for creates at the same time, one for a batch update, and one for what a list reveals', async () => {
    await Promise.all(each((index) => specimens.create(aSpecimen(`r${index}`), options)))
    expect(asked()).to.deep.equal(['encrypt'])
    const items = each((index) => ({
      key: `r${index}`,
      entity: { webhookSecret: `another ${index}` },
      fieldMask: ['webhook_secret'] as const,
    }))
    await specimens.batchUpdate(items as never, options)
    expect(asked()).to.deep.equal(['encrypt', 'encrypt'])
    const revealed = await Promise.all(each((index) => specimens.revealWebhookSecret(`r${index}`, options)))
    expect(revealed).to.deep.equal(each((index) => `another ${index}`))
    // Rows of a database come in turns of their own.
    if (backend.name === 'memory') expect(asked()).to.deep.equal(['encrypt', 'encrypt', 'decrypt'])
  })

  it('fails a batch by the item that fails, with its name, and writes none of it', async () => {
    await Promise.all(['b0', 'b1', 'b2'].map((id) => specimens.create(aSpecimen(id), options)))
    const failing: Encryptor = {
      ...transit,
      encryptBatch: () =>
        Promise.reject(
          new TransitError('encrypt: item 1: too long', { statusCode: 400, body: 'too long', item: 1 }),
        ),
    }
    const items = ['b0', 'b1', 'b2'].map((key, index) => ({
      key,
      entity: index === 0 ? { title: 'no secret' } : { webhookSecret: `w${index}` },
      fieldMask: index === 0 ? ['title'] : ['webhook_secret'],
    }))
    const error = await rejection(open(failing).batchUpdate(items as never, options), TransitError)
    expect(error.message).to.equal('transit: encrypt: requests[2].webhook_secret: too long')
    const broken = [{ ...items[1], entity: { webhookSecret: '\ud800' } }, items[2]]
    const wrong = await rejection(specimens.batchUpdate(broken as never, options), InvalidArgument)
    expect(wrong.field).to.equal('requests[0].webhook_secret')
    expect(await specimens.revealWebhookSecret('b2', options)).to.equal('whsec b2')
    expect((await specimens.get('b0', options)).title).to.equal('x')
  })

  it('fails the create alone whose secret fails', async () => {
    const picky: Encryptor = {
      ...transit,
      encrypt: (text, more) =>
        text === 'bad' ? Promise.reject(new TypeError('bad')) : transit.encrypt(text, more),
      encryptBatch: (texts, more) =>
        texts.includes('bad') ? Promise.reject(new TypeError('bad')) : transit.encryptBatch(texts, more),
    }
    const repository = open(picky)
    const outcomes = await Promise.allSettled(
      ['c0', 'c1', 'c2'].map((id) => repository.create(aSpecimen(id, id === 'c1' ? 'bad' : id), options)),
    )
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled'])
    expect(await repository.revealWebhookSecret('c2', options)).to.equal('c2')
  })

  it('fails the reveal alone whose ciphertext fails', async () => {
    const revealed = await Promise.allSettled(
      [await transit.encrypt('one'), 'vault:v1:AAAA', await transit.encrypt('two')].map((cipher) =>
        coalescedRequests(transit).decrypt(cipher, {}),
      ),
    )
    expect(revealed.map((one) => (one.status === 'fulfilled' ? one.value : undefined))).to.deep.equal([
      'one',
      undefined,
      'two',
    ])
  })

  it('asks a server that is sealed once for all creates at the same time', async () => {
    server.isSealed = true
    try {
      const outcomes = await Promise.allSettled(
        each((index) => specimens.create(aSpecimen(`n${index}`), options)),
      )
      expect(outcomes.every(({ status }) => status === 'rejected')).to.equal(true)
      expect(asked()).to.deep.equal(['encrypt'])
    } finally {
      server.isSealed = false
    }
  })
})

describe('requests that callers share', () => {
  const dev = newDev(Buffer.alloc(32, 7))
  const recording = () => {
    const batches: (readonly string[])[] = []
    const encryptor: Encryptor = {
      ...dev,
      encryptBatch: (texts, options) => {
        batches.push(texts)
        return dev.encryptBatch(texts, options)
      },
    }
    return { batches, requests: coalescedRequests(encryptor) }
  }

  it('never have texts of two tenants', async () => {
    const { batches, requests } = recording()
    const callers = ['a1', 'b1', 'a2', 'b2'].map((text) =>
      requests.encrypt(text, { tenant: text.slice(0, 1) }),
    )
    expect(await dev.decryptBatch(await Promise.all(callers))).to.deep.equal(['a1', 'b1', 'a2', 'b2'])
    expect(batches).to.deep.equal([
      ['a1', 'a2'],
      ['b1', 'b2'],
    ])
  })

  it('have at most 200 texts', async () => {
    const { batches, requests } = recording()
    const texts = Array.from({ length: 450 }, (_, index) => String(index))
    await Promise.all(texts.map((text) => requests.encrypt(text, {})))
    expect(batches.map(({ length }) => length)).to.deep.equal([200, 200, 50])
  })

  it('go on without a caller who has left, and end with the last one', async () => {
    const [first, second] = [new AbortController(), new AbortController()]
    let signal: AbortSignal | undefined
    const hung: Encryptor = {
      ...dev,
      encryptBatch: (_texts, options) => {
        signal = options?.signal
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Cancelled())))
      },
    }
    const requests = coalescedRequests(hung)
    const callers = [first, second].map((one) =>
      rejection(requests.encrypt('x', { signal: one.signal }), Cancelled),
    )
    await new Promise((resolve) => setImmediate(resolve))
    first.abort()
    await callers[0]
    expect(signal?.aborted).to.equal(false)
    second.abort()
    await callers[1]
    expect(signal?.aborted).to.equal(true)
  })

  it('wait for each other while some are in flight', async () => {
    const waiting: (() => void)[] = []
    const batches: (readonly string[])[] = []
    const encryptor: Encryptor = {
      ...dev,
      encrypt: (text) => new Promise((resolve) => waiting.push(() => resolve(text))),
      encryptBatch: (texts) => {
        batches.push(texts)
        return Promise.resolve([...texts])
      },
    }
    const requests = new CoalescedRequests(encryptor, 2 ** 31 - 1)
    const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const callers: Promise<string>[] = []
    for (let index = 0; index < 10; index++) {
      callers.push(requests.encrypt(String(index), {}))
      await turn()
    }
    expect([waiting.length, batches.length]).to.deep.equal([4, 0])
    waiting[0]?.()
    await turn()
    expect(batches).to.deep.equal([['4', '5', '6', '7', '8', '9']])
    for (const answer of waiting) answer()
    expect(await Promise.all(callers)).to.deep.equal(callers.map((_, index) => String(index)))
  })
})
