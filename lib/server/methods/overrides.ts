import type { Repository } from '../../persistence/contract/repository.js'
import { contextOf, isOverridden, viewOf } from '../../persistence/repository/repository-view.js'
import { enter } from '../chain/enter.js'

const OPERATIONS: readonly (keyof Repository<object>)[] = [
  'get',
  'list',
  'count',
  'create',
  'update',
  'delete',
  'undelete',
  'batchGet',
  'batchUpdate',
  'batchDelete',
  'transaction',
]

/**
 * Returns the repository that standard methods call. Operations overridden by the application can read the
 * call's context with `RequestContext.current()`. Other operations are called directly, because entering a
 * context slows down every promise of a Node 20 process.
 */
export function withContextInOverrides(repository: Repository<object>): Repository<object> {
  const overridden = new Set<string>(OPERATIONS.filter((name) => isOverridden(repository, name)))
  if (overridden.size === 0) return repository
  return viewOf(repository, (name, operands, run) =>
    overridden.has(name) ? enter(contextOf(operands), run) : run(),
  )
}
