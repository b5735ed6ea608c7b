import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import type { DescMethod } from '@bufbuild/protobuf'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { Gateway, type GatewayOptions } from '../../lib/gateway/gateway.js'
import { createHttpServer, type HttpServerOptions } from '../../lib/gateway/http/http-server.js'
import { resolved } from '../../lib/server/config/config-field.js'
import { GATEWAY_FIELDS } from '../../lib/server/config/config-defaults.js'
import { EchoService, NoteService, SpecimenService } from '../support/gen/specimens_pb.js'
import { EchoDispatcher } from './echo-dispatcher.js'

export const allMethods: readonly DescMethod[] = [
  EchoService,
  SpecimenService,
  NoteService,
  WidgetService,
].flatMap(({ methods }) => methods)

/** A gateway on a real port of this machine. */
export interface Running {
  readonly gateway: Gateway
  readonly dispatcher: EchoDispatcher
  readonly server: Server
  readonly port: number
  readonly url: string
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
  readonly stop: () => Promise<void>
}

export async function startGateway(
  options: Partial<GatewayOptions> = {},
  httpOptions: HttpServerOptions = {},
  configure: (gateway: Gateway) => void = () => {},
): Promise<Running> {
  const dispatcher = new EchoDispatcher()
  const gateway = new Gateway({
    dispatcher,
    methods: () => allMethods,
    readiness: () => Promise.resolve([]),
    ...resolved(GATEWAY_FIELDS, {}),
    ...options,
  })
  configure(gateway)
  gateway.prepare()
  const server = createHttpServer(gateway.listener, httpOptions)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    gateway,
    dispatcher,
    server,
    port,
    url,
    fetch: (path, init) => fetch(url + path, init),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A JSON body with its type. */
export const json = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
