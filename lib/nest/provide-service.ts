import type { FactoryProvider, Type } from '@nestjs/common'
import type { DescService } from '@bufbuild/protobuf'
import type { EntityClass, Repository } from '../persistence/index.js'
import type { Implementation, Server } from '../server/index.js'
import { repositoryToken, serverToken, type Token } from './injection-tokens.js'

/**
 * The implementation of a service: the repository of an entity, the methods of a provider, or both. The
 * provider takes precedence.
 */
export type ServedBy<S extends DescService> =
  | {
      /** The entity whose repository implements the standard methods. */
      readonly repository: EntityClass<object>
      /** A provider with the other methods, named as in the generated code. */
      readonly methods?: Type<Partial<Implementation<S>>>
    }
  | { readonly repository?: undefined; readonly methods: Type<Implementation<S>> }

/**
 * Returns a provider that serves a service: `providers: [WidgetMethods, provideService(WidgetService, {
 * repository: Widget, methods: WidgetMethods })]`.
 */
export const provideService = <S extends DescService>(
  service: S,
  { repository, methods }: ServedBy<S>,
): FactoryProvider => ({
  provide: Symbol(`ashlar service ${service.typeName}`),
  inject: [
    serverToken(),
    ...[repository && repositoryToken(repository), methods as Token | undefined].filter(
      (token) => token !== undefined,
    ),
  ],
  useFactory: (server: Server, ...parts: readonly object[]) => {
    if (repository === undefined) server.register(service, parts[0] as Implementation<S>)
    else server.register(service, parts[0] as Repository<object>, parts[1] as Partial<Implementation<S>>)
    return service
  },
})
