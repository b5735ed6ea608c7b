import type { Config } from '../../../lib/server/config/config.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { collated } from '../../conformance/repository/open-subject.js'
import type { Backend, OpenBackend } from '../../support/databases/backends.js'
import { Parcel } from '../../support/entities/parcel.js'
import {
  ParcelService,
  type SendParcelRequest,
  type UpdateParcelRequest,
} from '../../support/gen/parcels_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { startServer } from '../../support/servers/server.js'
import { batchJson, type Listener, listenersOf, type Loose, queryOf, type Route } from './calls.js'

export interface ServedParcels {
  readonly listeners: readonly Listener[]
  readonly client: ForeignClient
  readonly parcels: Repository<Parcel>
  /** The requests that reached code of our own. */
  readonly sent: unknown[]
  stop(): Promise<void>
}

/**
 * ParcelService on a repository, with methods of its own beside. @param backend - in memory when left out.
 */
export async function serveParcels(config: Config = {}, backend?: Backend): Promise<ServedParcels> {
  const opened = await backend?.open([Parcel])
  const parcels = await repositoryOn(backend, opened)
  const sent: unknown[] = []
  const pin = { title: 'sent', pin: '1234', address: { city: 'Basel', doorCode: '77' } }
  const running = await startServer(
    (builder) =>
      builder.register(ParcelService, parcels, {
        sendParcel: (request: SendParcelRequest) => {
          sent.push(request)
          return pin
        },
        loadParcels: async (requests: AsyncIterable<UpdateParcelRequest>) => {
          for await (const request of requests) sent.push(request)
          return {}
        },
        trackParcel: async function* () {
          yield await Promise.resolve(pin)
        },
        countParcels: ({ floor }) => ({ count: floor }),
      }),
    { authorizer: { authorize: ({ principal }) => principal.subject !== '' }, ...config },
  )
  const client = new ForeignClient(ParcelService, running.grpc)
  return {
    listeners: listenersOf(client, running.http, ROUTES),
    client,
    parcels,
    sent,
    stop: async () => {
      client.close()
      await running.stop()
      await opened?.close()
    },
  }
}

async function repositoryOn(
  backend: Backend | undefined,
  { dataSource, database }: Partial<OpenBackend> = {},
): Promise<Repository<Parcel>> {
  if (backend === undefined || dataSource === undefined || database === undefined)
    return new MemoryRepository(Parcel)
  await createTables(collated(dataSource, backend), [Parcel], database.dialect.name)
  return new TypeormRepository(dataSource, Parcel)
}

const ROUTES: Readonly<Record<string, Route>> = {
  CreateParcel: ({ parcel, ...query }) => ['POST', `/v1/parcels${queryOf(query)}`, parcel],
  UpdateParcel: ({ parcel, ...query }) => [
    'PATCH',
    `/v1/parcels/${String((parcel as Loose)['id'])}${queryOf(query)}`,
    parcel,
  ],
  BatchUpdateParcels: (request) => ['POST', '/v1/parcels:batchUpdate', batchJson(request)],
  GetParcel: ({ id }) => ['GET', `/v1/parcels/${String(id)}`, undefined],
  SendParcel: (request) => ['POST', '/v1/parcels:send', request],
}
