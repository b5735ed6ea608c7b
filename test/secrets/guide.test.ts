import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, Secret, TenantScoped } from '../../decorators/index.js'
import { SecretUnreadable } from '../../lib/errors.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { type Encryptor, newDev, newVaultTransit } from '../../lib/secrets/index.js'
import { withTenant } from '../../lib/testing/index.js'
import { rejection } from '../support/rejection.js'
import { compiled } from '../support/root.js'
import { TransitServer } from '../support/servers/transit-server.js'
import { type PageFolder, pageFolder } from '../support/sources/page-module.js'

@Resource()
@Entity('endpoints')
@TenantScoped()
class Endpoint {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Secret() signingKey!: Secret
  accountId!: string
}

interface Kms {
  encrypt(bytes: Uint8Array, bound: string): Promise<Uint8Array>
  decrypt(bytes: Uint8Array, bound: string): Promise<Uint8Array>
}
type KmsEncryptor = new (kms: Kms, indexKey: Uint8Array) => Encryptor

/** A key service whose bytes are those of the encryptor for development. */
const dev = newDev(Buffer.alloc(32, 'k'))
const kms: Kms = {
  encrypt: async (bytes, associatedData) =>
    Buffer.from(await dev.encrypt(Buffer.from(bytes).toString(), { associatedData })),
  decrypt: async (bytes, associatedData) =>
    Buffer.from(await dev.decrypt(Buffer.from(bytes).toString(), { associatedData })),
}

describe('kms-encryptor.ts of docs/guides/encryptors.md', () => {
  let page: PageFolder
  let encryptor: Encryptor

  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder('docs/guides/encryptors.md')
    const { KmsEncryptor } = (await page.load('kms-encryptor.ts')) as { KmsEncryptor: KmsEncryptor }
    expect(() => new KmsEncryptor(kms, Buffer.alloc(31))).to.throw(RangeError)
    encryptor = new KmsEncryptor(kms, Buffer.alloc(32, 'i'))
  })
  after(() => page?.remove())

  it('serves a repository', () =>
    withTenant('acme', async () => {
      const endpoints = new (memoryRepositoryOf(Endpoint))({ encryptor })
      const { id } = await endpoints.create({ title: 'Mail', signingKey: '\ufeffwhsec_ü' })
      expect(await endpoints.revealSigningKey(id)).to.equal('\ufeffwhsec_ü')
      const found = await endpoints.lookupBySigningKeyHash(await encryptor.hash('\ufeffwhsec_ü'))
      expect(found.id).to.equal(id)
    }))

  it('binds a ciphertext, and says nothing of what it cannot decrypt', async () => {
    const ciphertext = await encryptor.encrypt('hush', { associatedData: 'one' })
    expect(await encryptor.encrypt('hush', { associatedData: 'one' })).to.not.equal(ciphertext)
    expect(await encryptor.decrypt(ciphertext, { associatedData: 'one' })).to.equal('hush')
    for (const given of [ciphertext, 'bm90aGluZw=='])
      expect((await rejection(encryptor.decrypt(given), SecretUnreadable)).message).to.equal(
        'secrets: the key service cannot decrypt it',
      )
  })
})

describe('the logins of docs/guides/encryptors.md', () => {
  let page: PageFolder
  let server: TransitServer
  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder('docs/guides/encryptors.md')
    server = await TransitServer.start('secrets')
  })
  after(async () => {
    page?.remove()
    await server?.close()
  })
  const works = async (token: () => Promise<string>) => {
    const transit = newVaultTransit(server.addr, token, 'secrets', { indexKey: Buffer.alloc(32, 'i') })
    try {
      expect(await transit.decrypt(await transit.encrypt('hush'))).to.equal('hush')
    } finally {
      await transit.close()
    }
  }

  it('log in by AppRole', async () => {
    server.logins.set('auth/approle/login', { role_id: 'r', secret_id: 's' })
    const { appRoleToken } = (await page.load('approle-token.ts')) as Record<string, Login>
    await works(appRoleToken?.(server.addr, 'r', 's') ?? expect.fail('it is missing'))
  })

  it('log in by the service account of Kubernetes', async () => {
    server.logins.set('auth/kubernetes/login', { role: 'orders', jwt: 'a.b.c' })
    const file = join(page.folder, 'service-account')
    writeFileSync(file, 'a.b.c\n')
    const { kubernetesToken } = (await page.load('kubernetes-token.ts')) as Record<string, Login>
    await works(kubernetesToken?.(server.addr, 'orders', file) ?? expect.fail('it is missing'))
  })
})

type Login = (...args: readonly string[]) => () => Promise<string>
