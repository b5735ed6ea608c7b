import type {
  OperationOptions,
  RelatedAccess,
  Repository,
  Through,
} from '../../persistence/contract/repository.js'
import type { NamedRelation } from '../../persistence/relations/relations-named.js'

/** How the rows are restricted that a call reaches; undefined on a call that reaches all of its tenant's. */
export interface RowAccess {
  /**
   * The repository as this call may use it.
   * @param kind - what the repository is for.
   */
  restrict(repository: Repository<object>, kind: RowAccessKind): Restricted
}

/**
 * Of a method that `reads`, the decision about the call counts; one that `writes` reads what `get` allows. A function of its own
 * `acts` on rows, whether it reads or writes them: both decisions hold all of it.
 */
export type RowAccessKind = 'reads' | 'writes' | 'acts'

/** What a caller may do with the resources that go with the one of a call. */
export interface RelatedDecisions extends RelatedAccess {
  /** The same for work that goes on when the call has ended. */
  during(signal: AbortSignal): RelatedAccess
}

/** Which relations the filters and orders of a call may lead through. */
export interface FilterAccess {
  /** Those whose resources the caller may list, with what is there of them for this caller. */
  through(named: readonly NamedRelation[]): Promise<readonly Through[]>
}

export interface Restricted extends Repository<object> {
  /** @throws ErrNotFound unless the caller may get all of the entities; deleted ones count. */
  mustSee(keys: readonly string[], options: OperationOptions): Promise<void>
}

/** What a handler does with a decision by row: a standard method restricts its repository itself, by what it does with it. */
export type RowAccessUse = 'reads' | 'writes' | 'restricted' | 'none'
