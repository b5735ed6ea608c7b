import type { DescService } from '@bufbuild/protobuf'
import { type Channel, type Client, createChannel } from 'nice-grpc'
import {
  type Config,
  type Definition,
  devAuthorizer,
  devPrincipal,
  type Server,
  ServerBuilder,
} from '../../server/index.js'
import { captureLogs, type CapturedLogs } from './captured-logs.js'
import { testClient } from './test-client.js'
import { type Identity, type TestPrincipal, principalHeaders } from './principal-headers.js'

/** Calls a server as one principal. */
export interface TestCaller {
  /** Returns a typed gRPC client. */
  client<S extends DescService>(service: S): Client<Definition<S>>
  /** Calls `fetch` for a path of the gateway. */
  fetch(path: string, init?: RequestInit): Promise<Response>
}

/** A server in this process on free ports. Its own `client` and `fetch` call without a principal. */
export interface TestServer extends TestCaller {
  readonly server: Server
  /** The address of the gRPC listener, `host:port`. */
  readonly grpcAddress: string
  /** The address of the gateway, `http://host:port`. */
  readonly url: string
  readonly logs: CapturedLogs
  /** Returns a caller with this principal. */
  as(principal: TestPrincipal | Identity): TestCaller
  /** Closes the clients and drains the server. Rejects with the error that broke the server, if any. */
  stop(): Promise<void>
  /** Calls `stop`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a server for tests: free ports, no TLS, a gateway, captured logs, and principals from headers
 * (`devPrincipal`) unless `config` contains an authenticator or a principal function.
 * @param source - a configured builder, which is not changed and whose authorizer decides; or a function that
 *   registers services, in which case every principal with a subject may call everything.
 * @param config - configuration values that replace the defaults.
 * @example
 * ```ts
 * import { testServer } from 'ashlar/testing'
 * import { WidgetService } from './gen/widgets_pb.js'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export async function createsWidgets(widgets: WidgetRepository): Promise<void> {
 *   await using server = await testServer((builder) =>
 *     builder.register(WidgetService, widgets, { retireWidget: () => ({}) }),
 *   )
 *   const ada = server.as({ tenant: 'acme', subject: 'ada' })
 *   const { id } = await ada.client(WidgetService).createWidget({ widget: { displayName: 'Anvil' } })
 *   console.log((await ada.fetch(`/v1/widgets/${id}`)).status)
 * }
 * ```
 */
export async function testServer(
  source: ServerBuilder | ((builder: ServerBuilder) => unknown),
  config: Config = {},
): Promise<TestServer> {
  const logs = captureLogs()
  const builder = source instanceof ServerBuilder ? source : new ServerBuilder(OPEN)
  if (typeof source === 'function') await source(builder)
  const server = builder.build((configured) => {
    const who = config.authenticator === undefined ? { principalFunc: devPrincipal } : {}
    return { ...inProcess(configured, logs), ...who, ...config }
  })
  return serving(server, logs)
}

const OPEN: Config = {
  authorizer: devAuthorizer([{ tenant: '*', subjects: ['*'], verbs: ['*'], resource: '*' }]),
}

/** Returns a configuration with free ports and a captured log. It does not change authentication. */
export const inProcess = (configured: Config, { logger }: CapturedLogs): Config => {
  const {
    tls: _tls,
    httpTls: _httpTls,
    authenticator: _,
    principalFunc: _principalFunc,
    ...kept
  } = configured
  const addresses = { grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' }
  return { ...kept, ...addresses, logger, allowDevelopment: true }
}

/** Serves until `stop` is called. */
export async function serving(server: Server, logs: CapturedLogs): Promise<TestServer> {
  const controller = new AbortController()
  const served = server.serve(controller.signal)
  await Promise.race([server.ready(), served])
  const channels: Channel[] = []
  const url = server.httpAddr() === '' ? '' : `http://${server.httpAddr()}`
  const callerFor = (identity: Identity | undefined): TestCaller => {
    let channel: Channel | undefined
    return {
      client: (service) => {
        if (channel === undefined) channels.push((channel = createChannel(server.grpcAddr())))
        return testClient(service, channel, identity)
      },
      fetch: (path, init = {}) => {
        const headers = new Headers(identity?.headers)
        new Headers(init.headers).forEach((value, name) => headers.set(name, value))
        return fetch(new URL(path, url), { ...init, headers })
      },
    }
  }
  const stop = () => {
    for (const channel of channels.splice(0)) channel.close()
    controller.abort()
    return served
  }
  return {
    ...callerFor(undefined),
    server,
    grpcAddress: server.grpcAddr(),
    url,
    logs,
    as: (principal) => callerFor('headers' in principal ? principal : principalHeaders(principal)),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
