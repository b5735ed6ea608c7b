import { InvalidArgument } from '../../errors.js'
import { isLonger } from '../../resource/kinds/text.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { parseFilterPlan } from '../query/filter.js'
import type { Filter } from '../query/filter-template.js'
import { orderText, parseOrderTerms, type OrderTerm } from '../query/order-by.js'
import { decodePageToken, encodeKeyset, encodeOffset, type PageCursor } from '../query/page-token.js'
import { and, type FilterNode, type PlanColumn } from '../query/query-plan.js'
import { hasPart, isStorable } from '../query/reachable.js'
import { pageSizeOf } from '../query/page-size.js'
import type { ListFilter, ListOptions } from './repository.js'
import { rulesOf } from '../query/plan-rules.js'
import { predicateOf } from '../query/predicate.js'
import type { FieldsBehind } from '../query/related-fields.js'
import type { Scope } from './scope.js'

/**
 * The number of characters or bytes of an unbounded value that sort orders compare. With longer values, page
 * tokens would be too long for HTTP clients.
 */
export const ORDERED_LENGTH = 512
const MAX_SEARCH_LENGTH = 1024

export interface PagingOptions {
  /** Turns the checksum of page tokens into an HMAC, so that clients cannot forge tokens. */
  readonly pageTokenKey?: string | Uint8Array
  /**
   * The kind of page tokens in responses. `keyset`, the default, neither repeats nor skips rows under writes;
   * `offset` may. Both kinds are accepted, and later pages keep the kind of the first.
   */
  readonly paging?: 'keyset' | 'offset'
}

/** The condition that selects the rows of a list or a count, independent of the backend. */
export interface FilterPlan {
  readonly filter: FilterNode | undefined
  /** The part of the filter that the caller wrote. */
  readonly given?: FilterNode | undefined
  readonly search: string
  readonly showDeleted: boolean
}

/** The parameters of a count. */
export interface CountPlan extends FilterPlan {
  /** The number at which counting stops. */
  readonly limit: number | undefined
}

/** The parameters of a list: its rows, their order, and the first of them. */
export interface ListPlan extends FilterPlan {
  /** Ends with the key, so that the order is total. */
  readonly terms: readonly OrderTerm[]
  readonly cursor: PageCursor | undefined
  readonly size: number
  /**
   * Returns the token of the next page.
   * @param lastValues - of the last row, one per term.
   * @param count - the number of rows on this page.
   */
  nextPageToken(lastValues: readonly unknown[], count: number): string
}

/** The conditions that the server's own code sets for a list. */
export interface ListBounds {
  /** A filter that the rows must match; parsed separately, and combined with AND as a plan node. */
  readonly under?: Filter | undefined
  /** The fields that the caller may reach through relations. */
  readonly behind?: FieldsBehind | undefined
}

/**
 * Interprets list options in the same way for every backend.
 * @throws InvalidArgument with the invalid field.
 */
export function planList(
  model: ResourceModel,
  list: ListOptions<never>,
  scope: Scope,
  paging: PagingOptions,
  bounds: ListBounds = {},
): ListPlan {
  const { under, behind } = bounds
  const { filter, given, search, showDeleted } = planFilter(model, list, scope, bounds)
  const filterText = list.filter ?? ''
  const orderBy = orderText(list.orderBy, model.codeNames)
  const terms = totalOrder(model, parseOrderTerms(orderBy, model.columns, model.closed, behind), scope)
  // A page token of one parent is rejected for another parent.
  const resource = under === undefined ? model.type : `${model.type} ${under}`
  const pageScope = {
    resource,
    tenant: scope.tenant,
    filter: filterText,
    orderBy,
    search,
    showDeleted,
  }
  const cursor = decodePageToken(list.pageToken ?? '', terms, pageScope, paging.pageTokenKey)
  const size = pageSizeOf(list.pageSize)
  const skipped = cursor?.kind === 'offset' ? cursor.offset : 0
  return {
    filter,
    given,
    search,
    showDeleted,
    terms,
    cursor,
    size,
    nextPageToken: (lastValues, count) =>
      (cursor?.kind ?? paging.paging) === 'offset'
        ? encodeOffset(skipped + count)
        : encodeKeyset(lastValues, terms, pageScope, paging.pageTokenKey),
  }
}

/**
 * Parses the filter of a list or a count.
 * @throws InvalidArgument with the invalid field.
 */
export function planFilter(
  model: ResourceModel,
  list: ListFilter,
  { where }: Pick<Scope, 'where'>,
  { under, behind }: ListBounds = {},
): FilterPlan {
  const search = (list.search ?? '').trim()
  if (isLonger(search, MAX_SEARCH_LENGTH))
    throw new InvalidArgument('q', `is longer than ${MAX_SEARCH_LENGTH} characters`)
  if (!isStorable(search))
    throw new InvalidArgument('q', 'contains a NUL character, or half of a surrogate pair')
  const given = parseFilterPlan(list.filter ?? '', model.columns, model.closed, behind)
  return {
    given,
    filter: allOf(given, predicateOf(model, under), where),
    search,
    showDeleted: list.showDeleted === true,
  }
}

/**
 * Rejects an invalid limit.
 *
 * @throws TypeError if the limit is not a positive integer.
 */
export function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
    throw new TypeError(`limit of a count must be a positive integer, not ${limit}`)
}

/**
 * Appends the key, and the tenant if the list spans several tenants, so that the order is total. Key and
 * tenant are compared in full. Other unbounded values are compared by their beginning.
 */
function totalOrder(model: ResourceModel, terms: readonly OrderTerm[], scope: Scope): readonly OrderTerm[] {
  const last = terms.at(-1)?.direction ?? 'asc'
  const is = ({ column, of }: PlanColumn, field: PlanColumn | undefined) =>
    of === undefined && column === field?.column
  const isWhole = (column: PlanColumn) =>
    is(column, model.key) || is(column, model.tenant) || !rulesOf(column).exceeds(ORDERED_LENGTH, column)
  const total = terms.map(({ column, direction }) => ({
    column: isWhole(column) ? column : { ...column, first: ORDERED_LENGTH },
    direction,
  }))
  const tieBreakers =
    model.tenantInKey && scope.tenant === undefined ? [model.key, model.tenant] : [model.key]
  for (const field of tieBreakers)
    if (field !== undefined && !terms.some(({ column }) => is(column, field)))
      total.push({ column: field, direction: last })
  return total
}

/** Returns the tenant condition as a plan node, for a backend that evaluates all conditions together. */
export const tenantNode = (model: ResourceModel, scope: Pick<Scope, 'tenant'>): FilterNode | undefined =>
  model.tenant === undefined || scope.tenant === undefined ? undefined : hasPart(model.tenant, scope.tenant)

const allOf = (...nodes: readonly (FilterNode | undefined)[]): FilterNode | undefined =>
  nodes.every((node) => node === undefined) ? undefined : and(...nodes)
