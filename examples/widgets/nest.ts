import { type DynamicModule, Module } from '@nestjs/common'
import { devAuthorizer, devPrincipal, type Config } from '../../lib/index.js'
import { AshlarModule, provideService } from '../../lib/nest/index.js'
import { widgetsDataSource } from './data-source.js'
import { WidgetService } from './gen/widgets_pb.js'
import { StockController } from './nest-stock.js'
import { WidgetMethods } from './nest-widgets.js'
import { Widget } from './widget.js'
import { WidgetRepository } from './widget-repository.js'

/** Widgets, as a Nest application has them. */
@Module({
  imports: [AshlarModule.forFeature([{ entity: Widget, repository: WidgetRepository }])],
  providers: [WidgetMethods, provideService(WidgetService, { repository: Widget, methods: WidgetMethods })],
  controllers: [StockController],
})
export class WidgetsModule {}

/** The whole application: `NestFactory.create(widgetsApp({ grpcAddr: ':9090' }, ':memory:'))`. */
export const widgetsApp = (config: Config, database: string): DynamicModule => ({
  module: class WidgetsApp {},
  imports: [
    AshlarModule.forRoot({
      principalFunc: devPrincipal,
      authorizer: devAuthorizer([
        { tenant: '*', subjects: ['group:staff'], verbs: ['*'], resource: 'widget' },
      ]),
      allowDevelopment: true,
      dataSource: widgetsDataSource(database),
      ...config,
    }),
    WidgetsModule,
  ],
})
