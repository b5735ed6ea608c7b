import { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newVaultTransit } from '../../../lib/secrets/vault-transit.js'
import { INDEX_KEY } from '../../secrets/transit-rejections.js'
import { Specimen } from '../../support/entities/specimen.js'

/** What a process that rewraps until it is killed is told. */
export interface RewrapErrand {
  readonly url: string
  readonly type: 'postgres' | 'mariadb'
  readonly addr: string
  readonly token: string
  readonly after: string | undefined
  readonly batch: number
  /**
   * The page after which the process kills itself, while the next one is on its way; undefined to the end.
   */
  readonly lastPage: number | undefined
}

async function run({ url, type, addr, token, after, batch, lastPage }: RewrapErrand): Promise<void> {
  const dataSource = new DataSource({ type, url, entities: [Specimen] })
  await dataSource.initialize()
  const encryptor = newVaultTransit(addr, token, 'secrets', { indexKey: INDEX_KEY })
  const specimens = new (repositoryOf(Specimen))(dataSource, { encryptor, minter: new CredentialMinter() })
  let pages = 0
  await RequestContext.asSystem(() =>
    specimens.rewrapSecrets({
      batch,
      ...(after !== undefined && { after }),
      onProgress: async (progress) => {
        await new Promise<void>((resolve) => process.send?.(progress, () => resolve()))
        // In the middle of what comes next.
        if (++pages === lastPage) setTimeout(() => process.kill(process.pid, 'SIGKILL'), Math.random() * 5)
      },
    }),
  )
  await dataSource.destroy()
}

process.once('message', (errand: RewrapErrand) => void run(errand).then(() => process.exit(0)))
process.send?.('ready')
