import { type DescMethod, fromJson, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf'
import {
  type ClientTransport,
  connectTransport,
  createClient,
  grpcTransport,
} from '../../../lib/client/index.js'
import type { TaskService } from '../../support/gen/plans_pb.js'
import { ALICE, type RunningServer } from '../../support/servers/server.js'

/** The methods of the service that the calls use. */
export type Method = 'createTask' | 'getTask' | 'listTasks' | 'updateTask'

/** The JSON of a response, or the text of the error. */
export interface Outcome {
  readonly json?: JsonObject
  readonly error?: string
}

/** Calls a method over one protocol, with the JSON of its request. */
export interface Protocol {
  readonly name: string
  readonly call: (method: Method, request: JsonObject) => Promise<Outcome>
}

/** The calls of a server over each protocol. @param close - receives what has to be closed. */
export const protocolsOf = (
  service: typeof TaskService,
  running: RunningServer,
  close: (transport: ClientTransport) => void,
): readonly Protocol[] => [
  { name: 'REST', call: rest(running.http) },
  { name: 'Connect JSON', call: connectJson(service, running.http) },
  { name: 'Connect', call: client(service, connectTransport(`${running.http}/`), close) },
  { name: 'gRPC', call: client(service, grpcTransport(running.grpc), close) },
]

const sent = async (url: string, method: string, body?: JsonValue): Promise<Outcome> => {
  const response = await fetch(url, {
    method,
    headers: { ...ALICE, 'content-type': 'application/json', 'connect-protocol-version': '1' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return response.ok ? { json: JSON.parse(text) as JsonObject } : { error: text }
}

const queryOf = ({ ...fields }: JsonObject): string =>
  new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString()

const rest =
  (http: string): Protocol['call'] =>
  (method, request) => {
    const { task, id, ...rest } = request
    const query = queryOf(rest)
    if (method === 'createTask') return sent(`${http}/v1/tasks`, 'POST', task)
    if (method === 'listTasks') return sent(`${http}/v1/tasks?${query}`, 'GET')
    if (method === 'getTask') return sent(`${http}/v1/tasks/${String(id)}?${query}`, 'GET')
    const { id: key, ...body } = task as JsonObject
    return sent(`${http}/v1/tasks/${String(key)}?${query}`, 'PATCH', body)
  }

const connectJson =
  (service: typeof TaskService, http: string): Protocol['call'] =>
  (method, request) =>
    sent(`${http}/${service.typeName}/${service.method[method].name}`, 'POST', request)

const client = (
  service: typeof TaskService,
  transport: ClientTransport,
  close: (transport: ClientTransport) => void,
): Protocol['call'] => {
  close(transport)
  const calls = createClient(service, { transport, metadata: ALICE })
  return async (name, request) => {
    const method: DescMethod = service.method[name]
    const call = calls[name] as (message: unknown) => Promise<unknown>
    try {
      const message = await call(fromJson(method.input, request))
      return { json: toJson(method.output, message as never) as JsonObject }
    } catch (error) {
      return { error: `${String(error)} ${JSON.stringify((error as { details?: unknown }).details ?? '')}` }
    }
  }
}
