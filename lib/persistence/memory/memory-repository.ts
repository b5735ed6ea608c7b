import type { RequestContext } from '../../context.js'
import { DeclarationError, inEntity, type Problem, propertyProblem } from '../../errors.js'
import { type EntityClass, type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { StandardOptions } from '../repository/performers.js'
import { StandardRepository } from '../repository/standard-repository.js'
import { type MemoryCall, MemoryDatabase } from './memory-database.js'
import { MemoryBackend } from './memory-backend.js'

/** Options of a memory repository. */
export interface MemoryOptions extends StandardOptions {
  /**
   * The database. Share it between repositories that are written in one transaction. Default: a new database.
   */
  readonly database?: MemoryDatabase
}

/**
 * A repository that stores all data in this process, for development and tests. It behaves like the SQL
 * backends, except that it ignores searches.
 */
export class MemoryRepository<E extends object, K = string> extends StandardRepository<
  E,
  MemoryCall,
  RequestContext,
  K
> {
  constructor(entity: EntityClass<E>, options: MemoryOptions = {}) {
    const model = resourceModel(entity)
    refuseGenerated(model)
    super(model, options, new MemoryBackend(model, options.database ?? new MemoryDatabase()))
  }
}

/** Returns the problems of columns that a database table would fill, which memory does not. */
export const memoryProblems = ({ fields }: ResourceModel): readonly Problem[] =>
  fields
    .filter(({ generated, isFilledByTable }) => generated === true || isFilledByTable === true)
    .map(({ property, generated }) =>
      propertyProblem(
        'table',
        property,
        `${property} is declared as ${generated === true ? 'generated' : 'filled by the table'}, but memory has no table that sets it`,
        'test with SQLite, which has triggers, defaults in SQL and generated columns',
      ),
    )

function refuseGenerated(model: ResourceModel): void {
  const problems = memoryProblems(model)
  if (problems.length > 0) throw new DeclarationError(model.entity.name, inEntity(model.entity, problems))
}
