import type { Provider, Type } from '@nestjs/common'
import type { DataSource } from 'typeorm'
import {
  type AnyKeyRepository,
  type EntityClass,
  type Repository,
  repositoryOf,
  type RepositoryOptions,
} from '../persistence/index.js'
import { dataSourceToken, repositoryToken, type Token } from './injection-tokens.js'

/** An entity with a custom repository or repository options. */
export interface Feature<E extends object = object> {
  readonly entity: EntityClass<E>
  /**
   * Your own class, such as `class WidgetRepository extends repositoryOf(Widget)`. It can also be injected by
   * its class.
   */
  readonly repository?: Type<AnyKeyRepository<E>>
  /** Options of the repository, such as a minter, an encryptor or a clock. */
  readonly options?: RepositoryOptions
  /**
   * Returns the repository, built from injected providers, for example in memory or with an injected
   * encryptor.
   */
  readonly useFactory?: (...injected: never[]) => AnyKeyRepository<E> | Promise<AnyKeyRepository<E>>
  readonly inject?: readonly Token[]
}

/**
 * Returns the providers of one entity: its repository by token, and also by class if it has its own class.
 */
export const featureProviders = (feature: EntityClass<object> | Feature): readonly Provider[] => {
  const {
    entity,
    repository,
    options,
    useFactory,
    inject = [],
  }: Feature = typeof feature === 'function' ? { entity: feature } : feature
  const token = repositoryToken(entity)
  const alias: readonly Provider[] =
    repository === undefined ? [] : [{ provide: repository, useExisting: token }]
  if (useFactory !== undefined)
    return [{ provide: token, useFactory: useFactory as () => unknown, inject: [...inject] }, ...alias]
  const Repository = (repository ?? repositoryOf(entity)) as new (
    dataSource: DataSource,
    options?: RepositoryOptions,
  ) => Repository<object>
  return [
    {
      provide: token,
      inject: [dataSourceToken()],
      useFactory: (dataSource: DataSource | undefined) => {
        if (dataSource === undefined)
          throw new TypeError(`AshlarModule.forRoot needs a dataSource for the repository of ${entity.name}`)
        return new Repository(dataSource, options)
      },
    },
    ...alias,
  ]
}
