import type {
  OperationOptions,
  RelatedAccess,
  Repository,
  Through,
} from '../../persistence/contract/repository.js'
import type { ReferenceAccess, RowLimits } from '../../persistence/contract/related-options.js'
import type { NamedRelation } from '../../persistence/relations/relations-named.js'
import type { ResourceModel } from '../../resource/resource-model.js'

/** The restriction of a call's rows; undefined if the call reaches all rows of its tenant. */
export interface RowAccess {
  /**
   * The repository as this call may use it.
   * @param kind - what the repository is for.
   * @param references - left out where nothing is written that refers to something.
   */
  restrict(repository: Repository<object>, kind: RowAccessKind, references?: CallReferences): Restricted
}

/**
 * Of a method that `reads`, the decision about the call counts; one that `writes` reads what `get` allows. A
 * function of its own `acts` on rows, whether it reads or writes them: both decisions hold all of it.
 */
export type RowAccessKind = 'reads' | 'writes' | 'acts'

/** A caller's permissions on the resources related to a call's resource. */
export interface RelatedDecisions extends RelatedAccess {
  /** The same for work that goes on when the call has ended. */
  during(signal: AbortSignal): RelatedAccess
}

/** The other resources that a caller may list. */
export interface FilterAccess {
  /**
   * The deleted rows of a resource that a List would show to this caller; undefined where it shows none.
   * @throws TypeError where code alone decides.
   */
  deleted(model: ResourceModel): Promise<Pick<RowLimits, 'where'> | undefined>
  /** Those whose resources the caller may list, with what is there of them for this caller. */
  through(named: readonly NamedRelation[]): Promise<readonly Through[]>
}

export interface Restricted extends Repository<object> {
  /** @throws ErrNotFound unless the caller may get all of the entities; deleted ones count. */
  mustSee(keys: readonly string[], options: OperationOptions): Promise<void>
}

/** Writes of one repository for one call, whose caller may not refer to everything. */
export interface ReferringWrites {
  /** @param write - with the entities that the request has, before an override or a hook changes them. */
  of(write: { readonly kind: string; readonly named?: () => readonly object[] }): {
    readonly references: ReferenceAccess
    /** True if there is a limit to what the rows of the write may be. */
    readonly isLimited: () => Promise<boolean>
  }
}

/** The resources that the caller may refer to. */
export interface CallReferences {
  /** Undefined where the resource of the repository refers to nothing. */
  of(repository: Repository<object>, kind: RowAccessKind): ReferringWrites | undefined
  /** The repository as this call may use it, if the authorizer did not decide by row. */
  restrict(repository: Repository<object>, kind: RowAccessKind): Repository<object>
}

/**
 * The way in which a handler applies a row-level decision. A standard method restricts its repository itself;
 * a function around a read may also restrict other repositories.
 */
export type RowAccessUse = 'reads' | 'wrapsRead' | 'writes' | 'restricted' | 'none'
