import type { ResourceModel } from '../../resource/resource-model.js'
import type { Filter } from '../query/filter-template.js'

/**
 * A relation that filters and sort orders may use: a property such as `project`, or a path of at most three
 * relations such as `project.owner`. If `where` is set, related resources that do not match count as missing.
 */
export type Through = string | { readonly relation: string; readonly where?: Filter | undefined }

/** The rows of a resource that a caller may reach. */
export interface RowLimits {
  /** True if the caller may reach no row. */
  readonly isNone: boolean
  /** A condition that the rows must match. */
  readonly where?: Filter | undefined
  /** An additional check that is called for each entity. */
  readonly test?: ((entity: object) => boolean | Promise<boolean>) | undefined
}

/** The related rows that the caller of a delete or an undelete may change or list. */
export interface RelatedAccess {
  /** Returns the rows that may be deleted or undeleted together with the entity. */
  change(model: ResourceModel): RowLimits | Promise<RowLimits>
  /** Returns the related rows that may be counted in an error. */
  list(model: ResourceModel): RowLimits | Promise<RowLimits>
}

/**
 * The resources for which the functions of `related` can be called.
 * @internal
 */
export interface RelatedQuestions {
  /** The resources whose rows a delete can include. */
  readonly delete: readonly ResourceModel[]
  /** The resources whose rows an undelete can restore. */
  readonly undelete: readonly ResourceModel[]
  /** The resources whose rows can block a delete and are counted in its error. */
  readonly list: readonly ResourceModel[]
}

/** A row of another resource to which a write refers. */
export interface ReferredRow {
  readonly target: ResourceModel
  /** The field with the reference, such as `shelf_id`. */
  readonly field: string
  /** The referring resource, if it is not the written resource. */
  readonly by?: ResourceModel
  /**
   * The reference's values in the write, by property: the target's key, and the parts of its name that both
   * resources share. Undefined if the write leaves them unchanged.
   */
  readonly values: Readonly<Record<string, string | undefined>>
}

/** The rows to which the caller of a write may refer. */
export interface ReferenceAccess {
  /** Returns the rows of the target to which the caller may refer. Any other row counts as missing. */
  refer(row: ReferredRow): RowLimits | Promise<RowLimits>
}

/** Options of an operation that writes references. */
export interface ReferringOptions {
  /** The rows to which the caller may refer. Default: all rows of the tenant. */
  readonly references?: ReferenceAccess
}

/** Options of an operation that also affects entities that refer to the written one. */
export interface RelatedOptions {
  /**
   * The maximum number of rows that the operation may delete, across all resources. If more rows are
   * affected, it fails with ErrPreconditionFailed. Rows that only lose a reference do not count. Default:
   * 1000.
   */
  readonly maxRows?: number
  /** The caller's permissions on other resources. Default: all rows of the tenant. */
  readonly related?: RelatedAccess
}
