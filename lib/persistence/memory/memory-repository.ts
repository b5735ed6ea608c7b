import type { RequestContext } from '../../context.js'
import { type EntityClass, resourceModel } from '../../resource/resource-model.js'
import { type StandardOptions, StandardRepository } from '../repository/standard-repository.js'
import { type MemoryCall, MemoryDatabase } from './memory-database.js'
import { MemoryBackend } from './memory-backend.js'

/** Options of a repository in memory. */
export interface MemoryOptions extends StandardOptions {
  /** Share it between repositories that write in one transaction. Default: a database of its own. */
  readonly database?: MemoryDatabase
}

/**
 * A repository that stores everything in this process, for development and tests. It behaves like the SQL
 * backends except for search, which it ignores.
 */
export class MemoryRepository<E extends object, K = string> extends StandardRepository<
  E,
  MemoryCall,
  RequestContext,
  K
> {
  constructor(entity: EntityClass<E>, options: MemoryOptions = {}) {
    const model = resourceModel(entity)
    super(model, options, new MemoryBackend(model, options.database ?? new MemoryDatabase()))
  }
}
