import type { ResourceModel } from '../../resource/resource-model.js'
import type { Filter } from '../query/filter-template.js'

/**
 * A relation through which a filter and an order may lead: its property, such as `project`, or a path of at
 * most three, `project.owner`. With a `where`, only the resources for which that is true are there for the
 * filter and the order.
 */
export type Through = string | { readonly relation: string; readonly where?: Filter | undefined }

/** Which rows of a resource a caller may reach. */
export interface RowLimits {
  /** No row at all. */
  readonly isNone: boolean
  /** Only rows for which this is true. */
  readonly where?: Filter | undefined
  /** Asked about each entity beside that. */
  readonly test?: ((entity: object) => boolean | Promise<boolean>) | undefined
}

/** The permissions of a delete's or an undelete's caller on related resources. */
export interface RelatedAccess {
  /** Those that may be deleted, or undeleted, with it. */
  change(model: ResourceModel): RowLimits | Promise<RowLimits>
  /** The related rows whose number may be reported. */
  list(model: ResourceModel): RowLimits | Promise<RowLimits>
}

/** The resources about which `related` can be asked. */
export interface RelatedQuestions {
  /** Those that a delete can take along. */
  readonly delete: readonly ResourceModel[]
  /** Those that come back with an undelete. */
  readonly undelete: readonly ResourceModel[]
  /** The resources that can block the deletion, and whose number is reported. */
  readonly list: readonly ResourceModel[]
}

/** A row of another resource that a write refers to. */
export interface ReferredRow {
  readonly target: ResourceModel
  /** The field that refers to it, such as `shelf_id`. */
  readonly field: string
  /** The referring resource, if it is not the one that is written. */
  readonly by?: ResourceModel
  /**
   * The values that the write has for the reference, by property: the target's key, and the parts of its name
   * that both resources share; undefined if the write leaves them unchanged.
   */
  readonly values: Readonly<Record<string, string | undefined>>
}

/** The rows that the caller of a write may refer to. */
export interface ReferenceAccess {
  /** Which rows of the target. One that is not among them counts as missing. */
  refer(row: ReferredRow): RowLimits | Promise<RowLimits>
}

/** Options of an operation that writes references. */
export interface ReferringOptions {
  /** The rows that the caller may refer to. Default: all rows of the tenant. */
  readonly references?: ReferenceAccess
}

/** Options of an operation that reaches what refers to an entity. */
export interface RelatedOptions {
  /**
   * The maximum number of rows of all resources together that it may delete; one more is an
   * ErrPreconditionFailed. Rows that only lose a reference do not count. Default: 1000.
   */
  readonly maxRows?: number
  /** The caller's permissions on other resources. Default: all rows of the tenant. */
  readonly related?: RelatedAccess
}
