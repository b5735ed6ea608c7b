import { fromBinary } from '@bufbuild/protobuf'
import { anyUnpack } from '@bufbuild/protobuf/wkt'
import { BadRequestSchema } from 'ashlar-annotations/google/rpc/error_details_pb.js'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import type { ForeignClient, Outcome } from '../../support/grpc/clients.js'
import { ALICE, post } from '../../support/servers/server.js'

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

/** Verb, path and body of a request over HTTP. */
export type Route = (request: Loose) => readonly [string, string, unknown]

/** Both ways to call. */
export const listenersOf = (
  client: ForeignClient,
  origin: string,
  routes: Readonly<Record<string, Route>>,
): readonly Listener[] => [
  {
    name: 'gRPC',
    call: async (method, request, headers = {}) =>
      replyOf(await client.unary(method, request, { ...ALICE, ...headers })),
  },
  {
    name: 'HTTP',
    call: (method, request, headers = {}) => overHttp(origin, routes[method] as Route, request, headers),
  },
]

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

export type Loose = Readonly<Record<string, unknown>>

/** The query of a request; in it a FieldMask is one text. */
export const queryOf = ({ update_mask: mask, ...rest }: Loose): string => {
  const query = new URLSearchParams(rest as Record<string, string>)
  if (mask !== undefined) query.set('update_mask', (mask as { paths: string[] }).paths.join(','))
  return query.size === 0 ? '' : `?${String(query)}`
}

/** In JSON a FieldMask is one text. */
export const batchJson = ({ requests }: Loose): object => ({
  requests: (requests as Loose[]).map(({ update_mask: mask, ...rest }) => ({
    ...rest,
    ...(mask === undefined ? {} : { update_mask: (mask as { paths: string[] }).paths.join(',') }),
  })),
})

async function overHttp(origin: string, route: Route, request: object, headers: object): Promise<Reply> {
  const [verb, path, body] = route(request as Loose)
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
