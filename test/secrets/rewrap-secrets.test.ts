import 'reflect-metadata'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, Secret, TenantScoped } from '../../decorators/index.js'
import { RequestContext } from '../../lib/context.js'
import { InvalidArgument, Unavailable } from '../../lib/errors.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import type { RewrapProgress } from '../../lib/persistence/repository/rewrap-secrets.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import type { Encryptor } from '../../lib/secrets/encryptor.js'
import { newVaultTransit, type VaultTransit } from '../../lib/secrets/vault-transit.js'
import { backends, describeOn, type OpenBackend, openWithTables } from '../support/databases/backends.js'
import { drill } from '../support/drill.js'
import { Specimen } from '../support/entities/specimen.js'
import { rejection } from '../support/rejection.js'
import { TransitServer } from '../support/servers/transit-server.js'
import { INDEX_KEY } from './transit-rejections.js'

@Entity('counters')
@Resource({})
@TenantScoped()
class Counter {
  @PrimaryColumn('bigint') id!: bigint
  accountId!: string
  @Column() title!: string
  @Secret() token?: Secret
}

const ROWS = drill(60, 1_000)
const TENANTS = ['acme', 'zeta']
const contextOf = (tenant: string) =>
  new RequestContext({ principal: { subject: 'a', tenant, groups: [], scopes: [] } })
const system = <T>(fn: () => Promise<T>) => RequestContext.asSystem({ reason: 'rewrap' }, fn)
const secretOf = (id: string) => `whsec ${id}`

describeOn('rewrapSecrets', backends, (backend) => {
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
  const ids = Array.from({ length: ROWS }, (_, index) => `r${String(index).padStart(5, '0')}`)
  const aSpecimen = (id: string, webhookSecret = secretOf(id)) =>
    Object.assign(specimens.model.create(), { id, code: id, title: 'x', webhookSecret })

  beforeEach(async () => {
    opened = await openWithTables(backend, [Specimen])
    server = await TransitServer.start('secrets')
    transit = newVaultTransit(server.addr, server.token, 'secrets', { indexKey: INDEX_KEY })
    specimens = open(transit)
    for (let from = 0; from < ids.length; from += 200)
      await Promise.all(
        ids
          .slice(from, from + 200)
          .map((id, index) =>
            specimens.create(aSpecimen(id), { context: contextOf(TENANTS[index % 2] as string) }),
          ),
      )
  })
  afterEach(async () => {
    await transit?.close()
    await server?.close()
    await opened?.close()
  })
  const tenantOf = (id: string) => ({ context: contextOf(TENANTS[ids.indexOf(id) % 2] as string) })
  const first = ids[0] as string
  const second = ids[2] as string

  it('rewraps the rows of all tenants, deleted ones too, and changes nothing of the resources', async () => {
    await specimens.create(aSpecimen('none', ''), { context: contextOf('acme') })
    const before = await specimens.get(first, tenantOf(first))
    await specimens.delete(second, tenantOf(second))
    server.rotate('secrets')
    const seen: RewrapProgress[] = []
    const progress = await system(() =>
      specimens.rewrapSecrets({ batch: 7, onProgress: (one) => void seen.push(one) }),
    )
    expect(progress).to.deep.include({ rows: ROWS, rewrapped: ROWS, changed: 0, unreadable: 0, isDone: true })
    expect(seen.length).to.equal(Math.floor(ROWS / 7) + 1)
    expect(await system(() => specimens.secretVersions())).to.deep.equal({ 'vault:v2': ROWS })
    const after = await specimens.get(first, tenantOf(first))
    expect([after.etag, after.updateTime]).to.deep.equal([before.etag, before.updateTime])
    await specimens.undelete(second, tenantOf(second))
    for (const id of [first, second])
      expect(await specimens.revealWebhookSecret(id, tenantOf(id))).to.equal(secretOf(id))
    server.setMinDecryptionVersion('secrets', 2)
    expect(await specimens.revealWebhookSecret(first, tenantOf(first))).to.equal(secretOf(first))
    const again = await system(() => specimens.rewrapSecrets())
    expect(again).to.deep.include({ rows: ROWS, rewrapped: 0, isDone: true })
  })

  it('reaches the rows of the own tenant alone, outside of the system', async () => {
    server.rotate('secrets')
    const context = contextOf('acme')
    expect((await specimens.rewrapSecrets({ context })).rows).to.equal(ROWS / 2)
    expect(await system(() => specimens.secretVersions())).to.deep.equal({
      'vault:v1': ROWS / 2,
      'vault:v2': ROWS / 2,
    })
  })

  it('ends by a signal, and goes on behind the rows of the run before', async () => {
    server.rotate('secrets')
    const ending = new AbortController()
    const begun = await system(() =>
      specimens.rewrapSecrets({ batch: 7, signal: ending.signal, onProgress: () => ending.abort() }),
    )
    expect(begun).to.deep.include({ rows: 7, rewrapped: 7, isDone: false })
    const rest = await system(() => specimens.rewrapSecrets({ batch: 7, after: begun.after as string }))
    expect(rest).to.deep.include({ rows: ROWS - 7, rewrapped: ROWS - 7, isDone: true })
    for (const after of ['x', '', '{}', '[]', '["a"]', '[1,"acme"]', '["a",1]', '["a","acme","b"]'])
      await rejection(
        system(() => specimens.rewrapSecrets({ after })),
        InvalidArgument,
        'after',
      )
    await rejection(
      system(() => specimens.rewrapSecrets({ batch: 0 })),
      RangeError,
      'batch is',
    )
  })

  it('leaves a secret that is written meanwhile', async () => {
    server.rotate('secrets')
    const racing: Encryptor = {
      ...transit,
      rewrapBatch: async (texts, options) => {
        const fresh = await transit.rewrapBatch(texts, options)
        await specimens.update(first, { webhookSecret: 'newer' }, ['webhook_secret'], tenantOf(first))
        return fresh
      },
    }
    const repository = backend.name === 'memory' ? specimens : open(racing)
    const progress = await system(() => repository.rewrapSecrets({ batch: 1000 }))
    if (backend.name !== 'memory' && ROWS <= 1000)
      expect(progress).to.deep.include({ rewrapped: ROWS - 1, changed: 1 })
    if (backend.name !== 'memory')
      expect(await specimens.revealWebhookSecret(first, tenantOf(first))).to.equal('newer')
    expect(await system(() => specimens.secretVersions())).to.deep.equal({ 'vault:v2': ROWS })
  })

  it('leaves a secret that cannot be read, and goes on with the others', async () => {
    const { dataSource } = opened
    if (dataSource === undefined) return
    await dataSource.query(
      `UPDATE specimens SET webhook_secret_cipher = 'vault:v1:AAAA' WHERE id = '${first}'`,
    )
    server.rotate('secrets')
    const progress = await system(() => specimens.rewrapSecrets())
    expect(progress).to.deep.include({ rows: ROWS, rewrapped: ROWS - 1, unreadable: 1, isDone: true })
    expect(await system(() => specimens.secretVersions())).to.deep.equal({
      'vault:v1': 1,
      'vault:v2': ROWS - 1,
    })
  })

  it('ends with the error of a server that is not available, and runs again', async () => {
    server.rotate('secrets')
    let pages = 0
    const onProgress = () => {
      if (++pages === 2) server.isSealed = true
    }
    const failing = system(() => specimens.rewrapSecrets({ batch: 7, onProgress }))
    expect((await failing.catch((error: unknown) => error)) as Unavailable).to.have.property(
      'code',
      'UNAVAILABLE',
    )
    server.isSealed = false
    await system(() => specimens.rewrapSecrets())
    expect(await system(() => specimens.secretVersions())).to.deep.equal({ 'vault:v2': ROWS })
  })

  it('decrypts and encrypts with an encryptor in the process', async () => {
    const { dataSource } = opened
    if (dataSource === undefined) return
    const [old, fresh] = [newDev(Buffer.alloc(32, 1)), newDev(Buffer.alloc(32, 2))]
    const before = open(old)
    await before.create(aSpecimen('local'), { context: contextOf('acme') })
    const both: Encryptor = {
      encrypt: fresh.encrypt,
      hash: old.hash,
      decrypt: (text) => old.decrypt(text).catch(() => transit.decrypt(text)),
    }
    const progress = await system(() => open(both).rewrapSecrets())
    expect(progress).to.deep.include({ rows: ROWS + 1, rewrapped: ROWS + 1, unreadable: 0 })
    const context = contextOf('acme')
    expect(await open(fresh).revealWebhookSecret('local', { context })).to.equal(secretOf('local'))
  })
})

describeOn('rewrapSecrets of rows whose keys are numbers', backends, (backend) => {
  let opened: OpenBackend
  let server: TransitServer
  let transit: VaultTransit

  before(async () => {
    opened = await openWithTables(backend, [Counter])
    server = await TransitServer.start('secrets')
    transit = newVaultTransit(server.addr, server.token, 'secrets', { indexKey: INDEX_KEY })
  })
  after(async () => {
    await transit?.close()
    await server?.close()
    await opened?.close()
  })

  it('reads the pages in their order', async () => {
    const options = { encryptor: transit, minter: new CredentialMinter() }
    const { dataSource } = opened
    const counters =
      dataSource === undefined
        ? new (memoryRepositoryOf(Counter))(options)
        : new (repositoryOf(Counter))(dataSource, options)
    const all = Array.from({ length: 30 }, (_, index) =>
      Object.assign(counters.model.create(), { id: BigInt(index + 1), title: 'x', token: `t${index}` }),
    )
    await Promise.all(all.map((one) => counters.create(one, { context: contextOf('acme') })))
    server.rotate('secrets')
    const progress = await system(() => counters.rewrapSecrets({ batch: 7 }))
    expect(progress).to.deep.include({ rows: 30, rewrapped: 30, isDone: true })
    expect(await system(() => counters.secretVersions())).to.deep.equal({ 'vault:v2': 30 })
    for (const after of ['["x","acme"]', '["01","acme"]'])
      await rejection(
        system(() => counters.rewrapSecrets({ after })),
        InvalidArgument,
        'after',
      )
  })
})
