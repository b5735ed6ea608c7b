import { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newVaultTransit } from '../../../lib/secrets/vault-transit.js'
import { INDEX_KEY } from '../../secrets/transit-rejections.js'
import { Specimen } from '../../support/entities/specimen.js'

/** What a process that rewraps until it is killed is told. */
export interface RewrapErrand {
  /** A URL, and a file of SQLite. */
  readonly place: string
  readonly backend: 'sqlite' | 'postgres' | 'mariadb' | 'mysql8'
  readonly addr: string
  readonly token: string
  readonly after: string | undefined
  readonly batch: number
  /**
   * The page after which the process kills itself, while the next one is on its way; undefined to the end.
   */
  readonly lastPage: number | undefined
}

function dataSourceOf({ place, backend }: RewrapErrand): DataSource {
  if (backend === 'sqlite') return new SqliteDataSource({ database: place, entities: [Specimen] })
  const type = backend === 'mysql8' ? 'mysql' : backend
  return new DataSource({ type, url: place, entities: [Specimen] })
}

async function run(errand: RewrapErrand): Promise<void> {
  const { backend, addr, token, after, batch, lastPage } = errand
  const dataSource = dataSourceOf(errand)
  await dataSource.initialize()
  if (backend === 'mysql8') executorOf(dataSource, { dialect: 'mysql' })
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
