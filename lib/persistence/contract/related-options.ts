import type { ResourceModel } from '../../resource/resource-model.js'
import type { Filter } from '../query/filter-template.js'

/**
 * A relation that a filter and a sort order may use: its property, such as `project`, or a path of at most
 * three, such as `project.owner`. With a `where`, resources that do not match it count as missing.
 */
export type Through = string | { readonly relation: string; readonly where?: Filter | undefined }

/** The rows of a resource that a caller may reach. */
export interface RowLimits {
  /** True if the caller may reach no row. */
  readonly isNone: boolean
  /** A condition that the rows must match. */
  readonly where?: Filter | undefined
  /** A further check, called for each entity. */
  readonly test?: ((entity: object) => boolean | Promise<boolean>) | undefined
}

/** The permissions of a delete's or an undelete's caller on related resources. */
export interface RelatedAccess {
  /** Returns the rows that may be deleted or undeleted together with the entity. */
  change(model: ResourceModel): RowLimits | Promise<RowLimits>
  /** Returns the related rows whose number may be reported. */
  list(model: ResourceModel): RowLimits | Promise<RowLimits>
}

/** The resources for which the functions of `related` can be called. */
export interface RelatedQuestions {
  /** The resources that a delete can include. */
  readonly delete: readonly ResourceModel[]
  /** The resources that an undelete can restore. */
  readonly undelete: readonly ResourceModel[]
  /** The resources that can block a deletion, and whose number is then reported. */
  readonly list: readonly ResourceModel[]
}

/** A row of another resource to which a write refers. */
export interface ReferredRow {
  readonly target: ResourceModel
  /** The field with the reference, such as `shelf_id`. */
  readonly field: string
  /** The referring resource, if it is not the one that is written. */
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
   * The maximum number of rows that it may delete, over all resources. If there are more, it rejects with
   * ErrPreconditionFailed. Rows that only lose a reference do not count. Default: 1000.
   */
  readonly maxRows?: number
  /** The caller's permissions on other resources. Default: all rows of the tenant. */
  readonly related?: RelatedAccess
}
