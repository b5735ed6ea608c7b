import type {
  ListFilter,
  ListOptions,
  Page,
  FilterScope,
  Repository,
} from '../../persistence/contract/repository.js'
import { isOverridden } from '../../persistence/repository/repository-view.js'
import type { StandardMethod } from './standard-method.js'

/** The server's limits on lists. */
export interface ListLimits {
  readonly maxTotalSize: number
  readonly maxPageBytes: number
  readonly maxResponseBytes: number
}

const LARGEST_INT32 = 2 ** 31 - 1

/**
 * Returns the `total_size` of a List response (AIP-158): the number of entities on all pages, counted up to
 * the limit. No query is needed if the first page is the last.
 */
export async function totalSize(
  repository: Repository<object>,
  page: Page<object>,
  { filter, showDeleted, search, pageToken = '' }: ListOptions,
  scope: FilterScope,
  { maxTotalSize }: ListLimits,
): Promise<number> {
  const limit = Math.min(maxTotalSize, LARGEST_INT32)
  if (pageToken === '' && page.nextPageToken === '') return Math.min(page.items.length, limit)
  const counted: ListFilter = {
    ...(filter !== undefined && { filter }),
    ...(showDeleted !== undefined && { showDeleted }),
    ...(search !== undefined && { search }),
  }
  return repository.count(counted, { ...scope, limit })
}

/**
 * Explains why the total is not available, or why it would reveal entities that the list omits; undefined if
 * there is no problem.
 */
export function totalProblem(method: StandardMethod, repository: Repository<object>): string | undefined {
  if (method.kind !== 'list' || method.total === undefined) return undefined
  const { name } = repository.constructor
  if (typeof repository.count !== 'function')
    return `returns total_size, but ${name} has no count(): add it, or remove total_size`
  if (!isOverridden(repository, 'list') || isOverridden(repository, 'count')) return undefined
  return `returns total_size, but ${name} overrides list and not count, which may count resources that the list leaves out: override count as well`
}
