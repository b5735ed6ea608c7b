import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RequestContext } from '../../../lib/context.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newVaultTransit, type VaultTransit } from '../../../lib/secrets/vault-transit.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { Specimen } from '../../support/entities/specimen.js'
import { compiled } from '../../support/root.js'
import { runCommand } from '../../support/run-command.js'
import { TransitServer } from '../../support/servers/transit-server.js'
import { INDEX_KEY } from '../../secrets/transit-rejections.js'

const entities = join(compiled, 'test/support/entities/specimen.js')

describeOn(
  'ashlar secrets rewrap',
  databases.filter(({ name }) => name === 'postgres' || name === 'mariadb'),
  (backend) => {
    let opened: OpenBackend
    let server: TransitServer
    let transit: VaultTransit
    let folder: string
    let encryptor: string
    before(async () => {
      opened = await backend.open([Specimen])
      const dataSource = opened.dataSource as never
      await createTables(dataSource, [Specimen], backend.name as never)
      server = await TransitServer.start('secrets')
      transit = newVaultTransit(server.addr, server.token, 'secrets', { indexKey: INDEX_KEY })
      folder = mkdtempSync(join(tmpdir(), 'rewrap-'))
      encryptor = join(folder, 'encryptor.mjs')
      const library = pathToFileURL(join(compiled, 'lib/secrets/index.js')).href
      writeFileSync(
        encryptor,
        `import { newVaultTransit } from ${JSON.stringify(library)}
export const encryptor = () => newVaultTransit('${server.addr}', '${server.token}', 'secrets', { indexKey: Buffer.alloc(32, 7) })
`,
      )
      const minter = new CredentialMinter()
      const specimens = new (repositoryOf(Specimen))(dataSource, { encryptor: transit, minter })
      for (const tenant of ['acme', 'zeta'])
        await RequestContext.as({ tenant, subject: 'a' }, async () => {
          for (const id of ['a', 'b'])
            await specimens.create(
              Object.assign(specimens.model.create(), { id, code: id, title: 'x', webhookSecret: id }),
            )
        })
    })
    after(async () => {
      rmSync(folder, { recursive: true, force: true })
      await transit?.close()
      await server?.close()
      await opened?.close()
    })
    const rewrap = (...args: string[]) => {
      const { url = '' } = (opened.dataSource as { options: { url?: string } }).options
      return runCommand(['secrets', 'rewrap', '--entities', entities, '--encryptor', encryptor, ...args], {
        env: { ASHLAR_DATABASE_URL: url.replace('mariadb:', 'mysql:') },
      })
    }

    it('says how many secrets each version has, rewraps those of all tenants, and says what is left', async () => {
      server.rotate('secrets')
      const counted = await rewrap('--count')
      expect(counted.stdout, counted.stderr).to.equal('specimen: 4 secrets on vault:v1\n')
      const done = await rewrap('--batch', '3')
      expect(done.exit, done.stderr).to.equal(0)
      expect(done.stdout).to.equal(
        'specimen: 4 rows, 4 secrets rewrapped, 0 written by others meanwhile\nspecimen: 4 secrets on vault:v2\n',
      )
      expect(done.stderr).to.contain('specimen: 3 rows, 3 secrets rewrapped')
    })

    it('is told as JSON', async () => {
      const { stdout } = await rewrap('--json')
      expect(JSON.parse(stdout)).to.deep.include({ after: null })
    })

    it('says what is wrong with what it is given', async () => {
      const place = await rewrap('--after', 'x')
      expect(place.exit).to.equal(2)
      expect(place.stderr).to.contain('--after is not a value')
      server.isSealed = true
      const sealed = await rewrap()
      server.isSealed = false
      expect(sealed.exit).to.equal(6)
      expect(sealed.stderr).to.contain('sealed').and.not.to.contain(server.token)
    })
  },
)
