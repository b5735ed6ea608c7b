import type {
  OperationOptions,
  RelatedAccess,
  Repository,
  Through,
} from '../../persistence/contract/repository.js'
import type { ReferenceAccess, RowLimits } from '../../persistence/contract/related-options.js'
import type { NamedRelation } from '../../persistence/relations/relations-named.js'
import type { ResourceModel } from '../../resource/resource-model.js'

/** The restriction of a call's rows. A call without one can access all rows of its tenant. */
export interface RowAccess {
  /**
   * Returns the repository with the call's restriction applied.
   * @param kind - how the method uses the repository.
   * @param references - omitted if the method writes no references.
   */
  restrict(repository: Repository<object>, kind: RowAccessKind, references?: CallReferences): Restricted
}

/**
 * The use of a repository by a method. It determines the rows that the method can access:
 * - `reads`: the rows that the authorizer allowed for the call.
 * - `writes`: reads the rows that the caller may get, and writes only rows that the authorizer allowed for
 *   the call.
 * - `acts`: a custom function, which can only access rows that both conditions allow.
 */
export type RowAccessKind = 'reads' | 'writes' | 'acts'

/** A caller's permissions on the resources related to a call's resource. */
export interface RelatedDecisions extends RelatedAccess {
  /** Returns the same permissions for work that continues after the call has ended. */
  during(signal: AbortSignal): RelatedAccess
}

/** The related resources that a caller may list. */
export interface FilterAccess {
  /**
   * Returns the limits of the deleted rows that a List would return to this caller; undefined if it returns
   * none.
   * @throws TypeError if code alone decides.
   */
  deleted(model: ResourceModel): Promise<Pick<RowLimits, 'where'> | undefined>
  /** Returns the relations whose resources the caller may list, with the limits for this caller. */
  through(named: readonly NamedRelation[]): Promise<readonly Through[]>
}

export interface Restricted extends Repository<object> {
  /**
   * Rejects unless the caller may get all of the entities, including deleted ones.
   * @throws ErrNotFound
   */
  mustSee(keys: readonly string[], options: OperationOptions): Promise<void>
}

/** The writes of one repository for a call whose caller may not refer to every resource. */
export interface ReferringWrites {
  /**
   * Returns the reference limits of one write.
   * @param write - its entities are as the request states them, before an override or a hook changes them.
   */
  of(write: { readonly kind: string; readonly named?: () => readonly object[] }): {
    readonly references: ReferenceAccess
    /** Returns true if there is a limit on the rows that the write may produce. */
    readonly isLimited: () => Promise<boolean>
  }
}

/** The resources to which the caller may refer. */
export interface CallReferences {
  /** Returns the reference limits of a repository; undefined if its resource has no references. */
  of(repository: Repository<object>, kind: RowAccessKind): ReferringWrites | undefined
  /** Returns the repository with reference limits applied. For calls without a row-level decision. */
  restrict(repository: Repository<object>, kind: RowAccessKind): Repository<object>
}

/**
 * The way in which a handler applies a row-level decision. A standard method restricts its own repository. A
 * function that wraps a read may also restrict other repositories.
 */
export type RowAccessUse = 'reads' | 'wrapsRead' | 'writes' | 'restricted' | 'none'
