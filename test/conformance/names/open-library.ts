import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { RequestContext } from '../../../lib/context.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { Backend } from '../../support/databases/backends.js'
import { Edition, Policy, Publisher } from '../../support/entities/edition.js'
import { EditionService, PolicyService, PublisherService } from '../../support/gen/editions_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { type RunningServer, startServer } from '../../support/servers/server.js'
import { collated } from '../repository/open-subject.js'

/** Named resources of two tenants on a fresh database, served over both listeners. */
export interface Served {
  readonly editions: Repository<Edition>
  readonly running: RunningServer
  readonly client: ForeignClient
  readonly policies: ForeignClient
  readonly publishers: ForeignClient
  close(): Promise<void>
}

/** Tenant, publisher, series, id. */
const EDITIONS = [
  ['acme', 'p1', 's1', 'a'],
  ['acme', 'p1', 's1', 'b'],
  ['acme', 'p1', 's2', 'c'],
  ['acme', 'p2', 's1', 'd'],
  ['acme', 'p1', 's1', 'gone'],
  ['globex', 'p1', 's1', 'a'],
  ['globex', 'p1', 's1', 'x'],
] as const

export async function openServed(backend: Backend): Promise<Served> {
  const { dataSource, database, close } = await backend.open([Publisher, Edition, Policy])
  if (dataSource !== undefined && database !== undefined)
    await createTables(collated(dataSource, backend), [Publisher, Edition, Policy], database.dialect.name)
  const editions = dataSource ? new (repositoryOf(Edition))(dataSource) : new (memoryRepositoryOf(Edition))()
  const publishers = dataSource
    ? new (repositoryOf(Publisher))(dataSource)
    : new (memoryRepositoryOf(Publisher))()
  const policies = dataSource ? new (repositoryOf(Policy))(dataSource) : new (memoryRepositoryOf(Policy))()
  for (const [tenant, publisherId, seriesId, id] of EDITIONS)
    await RequestContext.as({ tenant, subject: 'ada' }, () =>
      editions.create({ id, publisherId, seriesId, title: `${tenant} ${id}`, pages: 1 }),
    )
  await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
    await editions.delete('gone')
    for (const publisherId of ['p1', 'p2']) await policies.create({ publisherId, maxPages: 9 })
  })
  const running = await startServer((builder) =>
    builder
      .register(EditionService, editions)
      .register(PublisherService, publishers)
      .register(PolicyService, policies),
  )
  const clients = [EditionService, PolicyService, PublisherService].map(
    (service) => new ForeignClient(service, running.grpc),
  )
  return {
    editions,
    running,
    client: clients[0] as ForeignClient,
    policies: clients[1] as ForeignClient,
    publishers: clients[2] as ForeignClient,
    close: async () => {
      for (const client of clients) client.close()
      await running.stop()
      await close()
    },
  }
}
