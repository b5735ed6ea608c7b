import type { Config } from '../../../lib/server/config/config.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
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
  readonly parcels: MemoryRepository<Parcel>
  /** The requests that reached code of our own. */
  readonly sent: unknown[]
  stop(): Promise<void>
}

/** ParcelService on a repository, with methods of its own beside. */
export async function serveParcels(config: Config = {}): Promise<ServedParcels> {
  const parcels = new MemoryRepository(Parcel)
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
    },
  }
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
