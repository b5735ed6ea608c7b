import { widgetsDataSource } from '../../../examples/widgets/data-source.js'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { widgetServer } from '../../../examples/widgets/main.js'
import { WidgetRepository } from '../../../examples/widgets/widget-repository.js'
import { RequestContext } from '../../../lib/context.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import { ServerBuilder } from '../../../lib/server/index.js'
import { echoService } from '../grpc/echo.js'
import { EchoService, NoteService } from '../gen/specimens_pb.js'
import { Note } from './specimen.js'

/** A valid server with widgets, for the command line. */
export async function builder(): Promise<ServerBuilder> {
  const widgets = new WidgetRepository(await widgetsDataSource(':memory:').initialize())
  return new ServerBuilder().register(EchoService, echoService).register(WidgetService, widgets, {
    retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)),
  })
}

/** The same server with notes, which have fewer methods. */
export const notes = () =>
  new ServerBuilder()
    .register(EchoService, echoService)
    .register(NoteService, new (memoryRepositoryOf(Note))())

/** A server with a widget method that ignores the tenant. */
export async function leaky(): Promise<ServerBuilder> {
  const widgets = new WidgetRepository(await widgetsDataSource(':memory:').initialize())
  return new ServerBuilder().register(WidgetService, widgets, {
    getWidget: async ({ id }) =>
      widgets.model.toMessage(await RequestContext.asSystem(() => widgets.get(id))),
    retireWidget: async ({ id }) => {
      console.log('retiring')
      return widgets.model.toMessage(await widgets.retire(id))
    },
  })
}

/** The example as built, which grants everything to staff. */
export const built = () =>
  widgetServer({ database: ':memory:', grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' })

/** A server whose DataSource is not initialized. */
export const uninitialized = () =>
  new ServerBuilder().register(WidgetService, new WidgetRepository(widgetsDataSource(':memory:')), {
    retireWidget: () => ({}),
  })

export const failing = () => Promise.reject(new TypeError('no database'))
