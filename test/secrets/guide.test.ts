import { expect } from 'chai'
import { basename } from 'node:path'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, Secret, TenantScoped } from '../../decorators/index.js'
import { SecretUnreadable } from '../../lib/errors.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { type Encryptor, newDev } from '../../lib/secrets/index.js'
import { withTenant } from '../../lib/testing/index.js'
import { rejection } from '../support/rejection.js'
import { compiled } from '../support/root.js'
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

describe('kms-encryptor.ts of docs/guides/secrets.md', () => {
  let page: PageFolder
  let encryptor: Encryptor

  before(async function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder('docs/guides/secrets.md')
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
