import { create } from '@bufbuild/protobuf'
import type { DataSource } from 'typeorm'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { Encryptor } from '../../../lib/secrets/encryptor.js'
import type { Config } from '../../../lib/server/config/config.js'
import type { Implementation } from '../../../lib/server/chain/handler.js'
import { type Backend, openWithTables } from '../databases/backends.js'
import { Specimen } from '../entities/specimen.js'
import { SpecimenSchema, SpecimenService } from '../gen/specimens_pb.js'
import { ForeignClient } from '../grpc/clients.js'
import { type LogRecord, startServer } from './server.js'

interface ServedSpecimens {
  readonly client: ForeignClient
  /** The base URL of the gateway. */
  readonly http: string
  readonly specimens: Repository<Specimen>
  /** Undefined if the backend is in memory. */
  readonly dataSource: DataSource | undefined
  readonly records: readonly LogRecord[]
  stop(): Promise<void>
}

/**
 * Serves SpecimenService with a repository of the backend, and connects a client.
 * @param implement - methods to implement in addition to those of the repository.
 * @param entity - another entity for the message.
 * @param encryptor - encrypts the secrets. Default: a development encryptor.
 */
export async function serveSpecimens(
  backend: Backend,
  implement: (
    specimens: Repository<Specimen>,
  ) => Partial<Implementation<typeof SpecimenService>> = () => ({}),
  config: Config | ((dataSource: DataSource | undefined) => Config) = {},
  entity: EntityClass<Specimen> = Specimen,
  encryptor: Encryptor = newDev(Buffer.alloc(32, 7)),
): Promise<ServedSpecimens> {
  const opened = await openWithTables(backend, [entity])
  const { dataSource } = opened
  const secrets = { minter: new CredentialMinter(), encryptor }
  const specimens =
    dataSource === undefined
      ? new MemoryRepository(entity, secrets)
      : new TypeormRepository(dataSource, entity, secrets)
  const weighSpecimen = () => create(SpecimenSchema)
  const running = await startServer(
    (builder) => builder.register(SpecimenService, specimens, { weighSpecimen, ...implement(specimens) }),
    typeof config === 'function' ? config(dataSource) : config,
  )
  const client = new ForeignClient(SpecimenService, running.grpc)
  return {
    client,
    http: running.http,
    specimens,
    dataSource,
    records: running.records,
    stop: async () => {
      client.close()
      await running.stop()
      await opened.close()
    },
  }
}
