import { Inject } from '@nestjs/common'
import type { EntityClass } from '../persistence/index.js'

/** An injection token. */
export type Token =
  string | symbol | ((...values: never[]) => unknown) | (abstract new (...values: never[]) => unknown)

const SERVER = Symbol('ashlar server')
const DATA_SOURCE = Symbol('ashlar data source')
/** The token of the options of `forRoot`, which only the module itself uses. */
export const OPTIONS = Symbol('ashlar options')

const repositories = new WeakMap<object, symbol>()

/** Returns the injection token of an entity's repository. */
export const repositoryToken = (entity: EntityClass<object>): symbol => {
  const known = repositories.get(entity)
  if (known !== undefined) return known
  const token = Symbol(`ashlar repository of ${entity.name}`)
  repositories.set(entity, token)
  return token
}

/** Returns the injection token of the `Server`. */
export const serverToken = (): symbol => SERVER

/** Returns the injection token of the DataSource that `forFeature` repositories use. */
export const dataSourceToken = (): symbol => DATA_SOURCE

/** Injects the repository that `AshlarModule.forFeature` created for an entity. */
export const InjectRepository = (entity: EntityClass<object>): ParameterDecorator & PropertyDecorator =>
  Inject(repositoryToken(entity))

/** Injects the `Server`. */
export const InjectServer = (): ParameterDecorator & PropertyDecorator => Inject(SERVER)
