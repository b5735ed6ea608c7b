import {
  type Config,
  type Logger,
  oidc,
  roleAuthorizer,
  type Server,
  ServerBuilder,
} from '../../lib/index.js'
import { WidgetService } from '../widgets/gen/widgets_pb.js'
import { widgetsDataSource } from '../widgets/data-source.js'
import { WidgetRepository } from '../widgets/widget-repository.js'
import { signInPage } from './page.js'

export interface SignInServerOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly database: string
  readonly grpcAddr: string
  readonly httpAddr: string
  readonly logger: Logger
}

/** The widget service for people who have signed in, with a page. */
export async function signInServer(options: SignInServerOptions): Promise<Server> {
  const { issuer, clientId, grpcAddr, httpAddr, logger } = options
  const dataSource = widgetsDataSource(options.database)
  await dataSource.initialize()
  const widgets = new WidgetRepository(dataSource)
  const port = /:(\d+)$/.exec(httpAddr)?.[1] ?? '3000'
  const access: Config = {
    authenticator: oidc({ issuer, audience: clientId }),
    authorizer: roleAuthorizer({
      roles: { editor: [{ verbs: ['*'], resource: '*' }] },
      bindings: [{ tenant: '*', subjects: ['group:staff'], roles: ['editor'] }],
    }),
    httpHandlers: signInPage({
      ...options,
      origin: `http://localhost:${port}`,
      api: () => `http://127.0.0.1:${port}`,
    }),
  }
  return new ServerBuilder({ grpcAddr, httpAddr, logger, ...access })
    .gateway({ updateMask: 'normalize' })
    .register(WidgetService, widgets, {
      retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)),
    })
    .build()
}
