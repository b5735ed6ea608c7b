import type { DescService } from '@bufbuild/protobuf'
import type { Config } from '../../../lib/server/config/config.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import type { Grant } from '../../../lib/server/authz/grant.js'
import { devPrincipal } from '../../../lib/server/authn/dev-principal.js'
import type { Logger } from '../../../lib/server/observability/logger.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import type { Server } from '../../../lib/server/server.js'

/** A line in the log of a server. */
export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/** Returns a logger that stores all records from level `info` up. */
export function recordingLogger(): Logger & { readonly records: LogRecord[] } {
  const records: LogRecord[] = []
  const at = (level: LogRecord['level']) => (fields: object, message: string) =>
    void records.push({ level, fields: fields as LogRecord['fields'], message })
  const isLevelEnabled = (level: string) => level !== 'debug'
  return {
    records,
    isLevelEnabled,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  }
}

/** A server that runs until `stop` is called. */
export interface RunningServer {
  readonly server: Server
  readonly grpc: string
  /** The base URL, `http://host:port`; empty if there is no gateway. */
  readonly http: string
  readonly records: LogRecord[]
  stop(): Promise<void>
}

/** A grant that allows every subject in every tenant everything. */
export const ALL: Grant = { tenant: '*', subjects: ['*'], verbs: ['*'], resource: '*' }

/** The headers of a user of tenant `acme`. */
export const ALICE = { 'account-id': 'acme', subject: 'alice', groups: 'makers' } as const

/**
 * Starts a real server on free ports, in development mode. All access is granted unless the configuration
 * says otherwise.
 */
export async function startServer(
  register: (builder: ServerBuilder) => void,
  config: Config = {},
  prepare: (server: Server) => void = () => {},
): Promise<RunningServer> {
  const logger = recordingLogger()
  const builder = new ServerBuilder({
    grpcAddr: '127.0.0.1:0',
    httpAddr: '127.0.0.1:0',
    authorizer: devAuthorizer([ALL]),
    principalFunc: devPrincipal,
    logger,
    allowDevelopment: true,
    ...config,
  })
  register(builder)
  const server = builder.build()
  prepare(server)
  const controller = new AbortController()
  const served = server.serve(controller.signal)
  await Promise.race([server.ready(), served])
  const http = server.httpAddr()
  return {
    server,
    grpc: server.grpcAddr(),
    http: http === '' ? '' : `http://${http}`,
    records: logger.records,
    stop: () => {
      controller.abort()
      return served
    },
  }
}

/** Returns an implementation of a service that has the given methods. The other methods fail. */
export function partly<S extends DescService>(service: S, methods: Readonly<Record<string, unknown>>): never {
  const refuse = () => {
    throw new TypeError('not part of this test')
  }
  return Object.fromEntries(
    service.methods.map(({ localName }) => [localName, methods[localName] ?? refuse]),
  ) as never
}

/** Returns the `fetch` options of a POST with a JSON body. */
export const post = (headers: object, body: object = {}, method = 'POST'): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
