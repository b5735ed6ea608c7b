import { DataSource } from 'typeorm'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { WidgetRepository } from '../../examples/widgets/widget-repository.js'
import { Widget } from '../../examples/widgets/widget.js'
import { devAuthorizer, devPrincipal, jsonLogger, ServerBuilder } from '../../lib/index.js'
import { benchUrl, POOL } from './postgres-address.js'

/**
 * Serves the example's service on PostgreSQL with the complete chain, over gRPC and HTTP. It listens when
 * imported.
 */
const dataSource = await new DataSource({
  type: 'postgres',
  url: benchUrl(),
  entities: [Widget],
  poolSize: POOL,
}).initialize()
const widgets = new WidgetRepository(dataSource)
const server = new ServerBuilder()
  .grpcAddr('127.0.0.1:0')
  .httpAddr('127.0.0.1:0')
  .logger(jsonLogger('error'))
  .principalFunc(devPrincipal)
  .authorizer(devAuthorizer([{ tenant: '*', subjects: ['group:staff'], verbs: ['*'], resource: 'widget' }]))
  .allowDevelopment()
  .register(WidgetService, widgets, {
    retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)),
  })
  .build()

server.serve(new AbortController().signal).catch((error: unknown) => {
  throw error
})
await server.ready()
const portOf = (address: string) => Number(address.split(':').at(-1))

/** The bound ports. */
export const listening = { grpc: portOf(server.grpcAddr()), http: portOf(server.httpAddr()) }
