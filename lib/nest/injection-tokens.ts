import { Inject } from '@nestjs/common'
import type { EntityClass } from '../persistence/index.js'

/** An injection token. */
export type Token =
  string | symbol | ((...values: never[]) => unknown) | (abstract new (...values: never[]) => unknown)

const SERVER = Symbol('ashlar server')
const DATA_SOURCE = Symbol('ashlar data source')
/** The options of `forRoot`; only for the module itself. */
export const OPTIONS = Symbol('ashlar options')

const repositories = new WeakMap<object, symbol>()

/** The token of the repository of an entity. */
export const repositoryToken = (entity: EntityClass<object>): symbol => {
  const known = repositories.get(entity)
  if (known !== undefined) return known
  const token = Symbol(`ashlar repository of ${entity.name}`)
  repositories.set(entity, token)
  return token
}

/** The token of the `Server`. */
export const serverToken = (): symbol => SERVER

/** The token of the DataSource used by `forFeature` repositories. */
export const dataSourceToken = (): symbol => DATA_SOURCE

/** Injects the repository that `AshlarModule.forFeature` made for an entity. */
export const InjectRepository = (entity: EntityClass<object>): ParameterDecorator & PropertyDecorator =>
  Inject(repositoryToken(entity))

/** Injects the `Server`. */
export const InjectServer = (): ParameterDecorator & PropertyDecorator => Inject(SERVER)
