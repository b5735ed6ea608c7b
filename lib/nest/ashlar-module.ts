import { type DynamicModule, Module, type ModuleMetadata, type Provider } from '@nestjs/common'
import type { DataSource } from 'typeorm'
import type { EntityClass } from '../persistence/index.js'
import { type Config, type Server, ServerBuilder } from '../server/index.js'
import { type Feature, featureProviders } from './feature.js'
import { AshlarHealthIndicator } from './health-indicator.js'
import { type Held, Serving } from './serving.js'
import { dataSourceToken, OPTIONS, serverToken, type Token } from './injection-tokens.js'

/** A server's `Config` and the DataSource of its repositories. */
export interface AshlarModuleOptions extends Config {
  /**
   * The DataSource of the repositories: an instance, or the token of a global provider. If an instance is not
   * initialized yet, the module initializes it at startup and destroys it at shutdown. Not needed without
   * `forFeature`.
   */
  readonly dataSource?: DataSource | Token
  /** Adds to the configuration before the server is built: services, HTTP handlers, rules. */
  readonly configure?: (server: ServerBuilder) => void
}

/** The result of a factory. A token is not allowed, because the factory can inject the DataSource. @inline */
type InstanceOptions = Omit<AshlarModuleOptions, 'dataSource'> & { readonly dataSource?: DataSource }

/** Creates the options from injected providers. */
export interface AshlarModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  readonly inject?: readonly Token[]
  /** Returns the options, built from injected providers. */
  readonly useFactory: (...injected: never[]) => InstanceOptions | Promise<InstanceOptions>
}

interface Resolved extends Held {
  readonly options: AshlarModuleOptions
}

/**
 * Serves Ashlar's services inside a Nest application.
 *
 * @example
 * ```ts
 * import { Module } from '@nestjs/common'
 * import { SqliteDataSource } from 'ashlar'
 * import { AshlarModule, provideService } from 'ashlar/nest'
 * import { WidgetService } from './gen/widgets_pb.js'
 * import { WidgetMethods } from './nest-widgets.js'
 * import { Widget } from './widget.js'
 * import { WidgetRepository } from './widget-repository.js'
 *
 * const dataSource = new SqliteDataSource({ database: 'widgets.db', entities: [Widget] })
 *
 * @Module({
 *   imports: [
 *     AshlarModule.forRoot({ dataSource, grpcAddr: ':9090' }),
 *     AshlarModule.forFeature([{ entity: Widget, repository: WidgetRepository }]),
 *   ],
 *   providers: [WidgetMethods, provideService(WidgetService, { repository: Widget, methods: WidgetMethods })],
 * })
 * class AppModule {}
 * ```
 */
@Module({})
export class AshlarModule {
  /**
   * Returns the module for the root of the application: one server for all modules. It serves after the
   * application has started.
   */
  static forRoot(options: AshlarModuleOptions): DynamicModule {
    const { dataSource } = options
    const isToken =
      typeof dataSource === 'string' || typeof dataSource === 'symbol' || typeof dataSource === 'function'
    return root(
      { provide: OPTIONS, useValue: { options, ownsDataSource: false } satisfies Resolved },
      isToken ? { provide: dataSourceToken(), useExisting: dataSource } : OWN_DATA_SOURCE,
    )
  }

  /** Like `forRoot`, with options built from other providers. */
  static forRootAsync({ imports = [], inject = [], useFactory }: AshlarModuleAsyncOptions): DynamicModule {
    const make = async (...injected: never[]): Promise<Resolved> => ({
      options: await useFactory(...injected),
      ownsDataSource: false,
    })
    return root({ provide: OPTIONS, useFactory: make, inject: [...inject] }, OWN_DATA_SOURCE, imports)
  }

  /**
   * Returns the module that provides the repositories of these entities, for `@InjectRepository(Widget)`.
   * Import it in every module that needs them.
   */
  static forFeature(features: readonly (EntityClass<object> | Feature)[]): DynamicModule {
    const providers = features.flatMap((feature) => featureProviders(feature))
    return { module: AshlarModule, providers, exports: providers.map(tokenOf) }
  }
}

const root = (
  options: Provider,
  dataSource: Provider,
  imports: NonNullable<ModuleMetadata['imports']> = [],
): DynamicModule => ({
  module: AshlarModule,
  global: true,
  imports,
  providers: [options, dataSource, SERVER, Serving, AshlarHealthIndicator],
  exports: [serverToken(), dataSourceToken(), AshlarHealthIndicator],
})

const OWN_DATA_SOURCE: Provider = {
  provide: dataSourceToken(),
  inject: [OPTIONS],
  useFactory: async (resolved: Resolved) => {
    const dataSource = resolved.options.dataSource as DataSource | undefined
    if (dataSource === undefined || dataSource.isInitialized) return dataSource
    resolved.ownsDataSource = true
    return dataSource.initialize()
  },
}

const SERVER: Provider = {
  provide: serverToken(),
  inject: [OPTIONS],
  useFactory: ({ options: { dataSource: _, configure, ...config } }: Resolved): Server => {
    const builder = new ServerBuilder(config)
    configure?.(builder)
    return builder.build()
  },
}

const tokenOf = (provider: Provider) => (typeof provider === 'function' ? provider : provider.provide)
