import type { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Operation, OperationOf, Results } from './repository-operation.js'
import type { PagingOptions } from '../contract/list-plan.js'
import type { Sources } from '../contract/new-entity.js'
import type { StoredUnread } from '../contract/patch.js'
import type { SecretOptions } from '../contract/secret-fields.js'
import type { RepositoryFamily } from '../deletion/rules/repository-family.js'
import type { RowCall } from '../rows/row-call.js'
import type { RowWriter } from '../rows/row-writer.js'
import type { Modifiable } from './modify.js'
import type { RowsBackend } from './rows-backend.js'

/** Options of every repository. */
export interface StandardOptions extends Sources, PagingOptions, SecretOptions {}

/** The parts that a repository's operations use. */
export interface RepositoryCore<E extends object, C extends RowCall, X extends RequestContext> {
  /** The repository including the application's overrides. */
  readonly repository: Modifiable<E>
  readonly model: ResourceModel<E>
  readonly options: StandardOptions & StoredUnread
  readonly backend: RowsBackend<E, C, X>
  readonly writer: RowWriter<E, C>
  readonly family: RepositoryFamily<E, C>
}

/** Performs operations of some kinds. */
export type Performers<Kind extends Operation['kind']> = {
  readonly [K in Kind]: <E extends object, C extends RowCall, X extends RequestContext>(
    core: RepositoryCore<E, C, X>,
    operation: OperationOf<K, E>,
  ) => Promise<Results<E>[K]>
}
