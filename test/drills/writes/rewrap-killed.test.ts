import { expect } from 'chai'
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { RequestContext } from '../../../lib/context.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { RewrapProgress } from '../../../lib/persistence/repository/rewrap-secrets.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newVaultTransit, type VaultTransit } from '../../../lib/secrets/vault-transit.js'
import { databases, describeOn, type OpenBackend, openWithTables } from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'
import { Specimen } from '../../support/entities/specimen.js'
import { TransitServer } from '../../support/servers/transit-server.js'
import { INDEX_KEY } from '../../secrets/transit-rejections.js'
import type { RewrapErrand } from '../hosts/rewrap-secrets.js'

const ROWS = drill(300, 10_000)
const BATCH = drill(20, 200)
const KILLS = drill(3, 10)
const ENGINES = ['sqlite', 'postgres', 'mariadb', 'mysql8'] as const
const HOST = fileURLToPath(new URL('../hosts/rewrap-secrets.js', import.meta.url))
const options = {
  context: new RequestContext({ principal: { subject: 'a', tenant: 'acme', groups: [], scopes: [] } }),
}

describeOn(
  'a process killed while it rewraps secrets under writes',
  databases.filter(({ name }) => ENGINES.some((engine) => engine === name)),
  (backend) => {
    let opened: OpenBackend
    let server: TransitServer
    let transit: VaultTransit
    before(async () => {
      opened = await openWithTables(backend, [Specimen])
      server = await TransitServer.start('secrets')
      transit = newVaultTransit(server.addr, server.token, 'secrets', { indexKey: INDEX_KEY })
    })
    after(async () => {
      await transit?.close()
      await server?.close()
      await opened?.close()
    })

    it(`loses no write of ${ROWS} rows in ${KILLS} kills, and ends with every secret on the newest version`, async () => {
      const { dataSource } = opened as { dataSource: NonNullable<OpenBackend['dataSource']> }
      const specimens = new (repositoryOf(Specimen))(dataSource, {
        encryptor: transit,
        minter: new CredentialMinter(),
      })
      const secrets = new Map<string, string>()
      for (let from = 0; from < ROWS; from += 100) {
        const ids = Array.from({ length: Math.min(100, ROWS - from) }, (_, index) => `r${from + index}`)
        for (const id of ids) secrets.set(id, `whsec ${id}`)
        await Promise.all(
          ids.map((id) =>
            specimens.create(
              Object.assign(specimens.model.create(), {
                id,
                code: id,
                title: 'x',
                webhookSecret: secrets.get(id) as string,
              }),
              options,
            ),
          ),
        )
      }
      server.rotate('secrets')
      const ids = [...secrets.keys()]
      let isOver = false
      let writes = 0
      const writer = async () => {
        while (!isOver) {
          const id = ids[Math.floor(Math.random() * ids.length)] as string
          const secret = `another ${writes++}`
          // One writer at a time for a row: which secret is the last one has to be known.
          if (secrets.get(id)?.startsWith('busy') === true) continue
          secrets.set(id, 'busy')
          await specimens.update(id, { webhookSecret: secret }, ['webhook_secret'], options)
          secrets.set(id, secret)
        }
      }
      const writers = Promise.all([writer(), writer(), writer()])
      let after: string | undefined
      let kills = 0
      const send = (lastPage: number | undefined): Promise<NodeJS.Signals | number | null> =>
        new Promise((resolve, reject) => {
          const child = fork(HOST, { execArgv: [] })
          const { url, database } = dataSource.options as { url?: string; database?: string }
          const place = url ?? (database as string)
          const { addr, token } = server
          const asked = backend.name as RewrapErrand['backend']
          const errand: RewrapErrand = { place, backend: asked, addr, token, after, batch: BATCH, lastPage }
          child.on('message', (message) => {
            if (message === 'ready') child.send(errand)
            else after = (message as RewrapProgress).after
          })
          child.once('error', reject)
          child.once('exit', (code, signal) => resolve(signal ?? code))
        })
      try {
        while (kills < KILLS && (await send(1)) === 'SIGKILL') kills++
        expect(await send(undefined)).to.equal(0)
      } finally {
        isOver = true
        await writers
      }
      expect(kills).to.equal(KILLS)
      expect(writes).to.be.greaterThan(0)
      const versions = await RequestContext.asSystem(() => specimens.secretVersions())
      expect(versions).to.deep.equal({ 'vault:v2': ROWS })
      server.setMinDecryptionVersion('secrets', 2)
      for (let from = 0; from < ids.length; from += 100) {
        const page = ids.slice(from, from + 100)
        const revealed = await Promise.all(page.map((id) => specimens.revealWebhookSecret(id, options)))
        expect(revealed).to.deep.equal(page.map((id) => secrets.get(id)))
      }
    })
  },
)
