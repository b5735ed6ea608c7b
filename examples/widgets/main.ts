import { setTimeout as pause } from 'node:timers/promises'
import type { DataSource } from 'typeorm'
import {
  devAuthorizer,
  devPrincipal,
  jsonLogger,
  type Logger,
  type Server,
  ServerBuilder,
} from '../../lib/index.js'
import { DefaultGRPCAddr } from '../../lib/server/index.js'
import { widgetsDataSource } from './data-source.js'
import { WidgetService } from './gen/widgets_pb.js'
import { WidgetRepository } from './widget-repository.js'
import { widgetSchema } from './widget-schema.js'

export interface WidgetServerOptions {
  /** SQLite file, `:memory:`, a database URL, or what `widgetsDataSource` makes of one, for the caller to end. */
  readonly database: string | DataSource
  readonly grpcAddr: string
  readonly httpAddr: string
  /** One record per call on stderr when left out. */
  readonly logger?: Logger
}

/** A server for widgets: gRPC, and beside it HTTP/JSON, Connect and gRPC-Web. */
export async function widgetServer(options: WidgetServerOptions): Promise<Server> {
  const { database, grpcAddr, httpAddr, logger = jsonLogger() } = options
  const dataSource = typeof database === 'string' ? widgetsDataSource(database) : database
  await dataSource.initialize()
  const widgets = new WidgetRepository(dataSource)

  return new ServerBuilder()
    .grpcAddr(grpcAddr)
    .httpAddr(httpAddr)
    .logger(logger)
    .gateway({
      connect: true,
      updateMask: 'normalize',
      openapi: { title: 'Widgets', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
    })
    .principalFunc(devPrincipal)
    .authorizer(devAuthorizer([{ tenant: '*', subjects: ['group:staff'], verbs: ['*'], resource: 'widget' }]))
    .allowDevelopment()
    .readinessCheck('database', async () => {
      await dataSource.query('SELECT 1')
    })
    .readinessCheck('schema', widgetSchema(dataSource))
    .register(WidgetService, widgets, {
      retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)),
    })
    .build()
}

if (import.meta.filename === process.argv[1]) {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const dataSource = widgetsDataSource(process.env['WIDGETS_DATABASE'] ?? 'widgets.sqlite')
  const server = await widgetServer({
    database: dataSource,
    grpcAddr: process.env['GRPC_ADDR'] ?? DefaultGRPCAddr,
    httpAddr: process.env['HTTP_ADDR'] ?? ':8080',
  })
  await server.serve(stop.signal)
  // A handler that goes on was answered for, and keeps neither the process nor the connection it waits for.
  await Promise.race([dataSource.destroy(), pause(1_000)])
  process.exit()
}
