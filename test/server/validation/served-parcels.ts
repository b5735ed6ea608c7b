import { fromBinary } from '@bufbuild/protobuf'
import { anyUnpack } from '@bufbuild/protobuf/wkt'
import type { Config } from '../../../lib/server/config/config.js'
import { BadRequestSchema } from '../../../lib/gen/google/rpc/error_details_pb.js'
import { StatusSchema } from '../../../lib/gen/google/rpc/status_pb.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { Parcel } from '../../support/entities/parcel.js'
import {
  ParcelService,
  type SendParcelRequest,
  type UpdateParcelRequest,
} from '../../support/gen/parcels_pb.js'
import { ForeignClient, type Outcome } from '../../support/grpc/clients.js'
import { ALICE, post, startServer } from '../../support/servers/server.js'

export interface Violation {
  readonly field: string
  readonly description: string
  readonly reason?: string
}

/** What a call came to. */
export interface Reply {
  /** OK is 0. */
  readonly code: number
  readonly message: string
  readonly violations: readonly Violation[]
  readonly answer: Readonly<Record<string, unknown>>
}

/** A way to call, by method and by request in proto spelling. */
export interface Listener {
  readonly name: 'gRPC' | 'HTTP'
  call(method: string, request: object, headers?: object): Promise<Reply>
}

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
    listeners: [
      {
        name: 'gRPC',
        call: async (method, request, headers = {}) =>
          replyOf(await client.unary(method, request, { ...ALICE, ...headers })),
      },
      {
        name: 'HTTP',
        call: (method, request, headers = {}) => overHttp(running.http, method, request, headers),
      },
    ],
    client,
    parcels,
    sent,
    stop: async () => {
      client.close()
      await running.stop()
    },
  }
}

/** What a call over gRPC came to. */
export const replyOf = ({ code, details, answer, trailers }: Outcome): Reply => {
  const [bytes] = trailers.get('grpc-status-details-bin')
  const status = bytes === undefined ? undefined : fromBinary(StatusSchema, bytes as Buffer)
  const violations = (status?.details ?? []).flatMap((any) => {
    const bad = anyUnpack(any, BadRequestSchema)
    return (bad?.fieldViolations ?? []).map(({ field, description, reason }) => ({
      field,
      description,
      reason,
    }))
  })
  return { code, message: details, violations, answer: answer ?? {} }
}

const ROUTES: Readonly<Record<string, (request: Loose) => readonly [string, string, unknown]>> = {
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

type Loose = Readonly<Record<string, unknown>>

const queryOf = ({ update_mask: mask, ...rest }: Loose): string => {
  const query = new URLSearchParams(rest as Record<string, string>)
  if (mask !== undefined) query.set('update_mask', (mask as { paths: string[] }).paths.join(','))
  return query.size === 0 ? '' : `?${String(query)}`
}

/** In JSON a FieldMask is one text. */
const batchJson = ({ requests }: Loose): object => ({
  requests: (requests as Loose[]).map(({ update_mask: mask, ...rest }) => ({
    ...rest,
    ...(mask === undefined ? {} : { update_mask: (mask as { paths: string[] }).paths.join(',') }),
  })),
})

async function overHttp(origin: string, method: string, request: object, headers: object): Promise<Reply> {
  const [verb, path, body] = ROUTES[method]?.(request as Loose) ?? []
  const init =
    verb === 'GET'
      ? { headers: { ...ALICE, ...headers } }
      : post({ ...ALICE, ...headers }, body as object, verb)
  const response = await fetch(`${origin}${String(path)}`, init as RequestInit)
  const json = (await response.json()) as Loose
  if (response.ok) return { code: 0, message: '', violations: [], answer: json }
  const details = json['details'] as readonly { readonly fieldViolations?: readonly Violation[] }[]
  const violations = details.flatMap(({ fieldViolations }) => fieldViolations ?? [])
  return { code: json['code'] as number, message: json['message'] as string, violations, answer: {} }
}
