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

/** What the caller of a delete or an undelete may do with the resources that go with an entity. */
export interface RelatedAccess {
  /** Those that may be deleted, or undeleted, with it. */
  change(model: ResourceModel): RowLimits | Promise<RowLimits>
  /** Those whose number may be told. */
  list(model: ResourceModel): RowLimits | Promise<RowLimits>
}

/** The resources about which `related` can be asked. */
export interface RelatedQuestions {
  /** Those that a delete can take along. */
  readonly delete: readonly ResourceModel[]
  /** Those that come back with an undelete. */
  readonly undelete: readonly ResourceModel[]
  /** Those that can keep the entity, and whose number is told. */
  readonly list: readonly ResourceModel[]
}

/** A row of another resource that a write refers to. */
export interface ReferredRow {
  readonly target: ResourceModel
  /** The field that refers to it, such as `shelf_id`. */
  readonly field: string
  /** What refers to it, where that is not the resource that is written. */
  readonly by?: ResourceModel
  /**
   * What the write says of it, by property: its key, and the parts of its name that the resource has in
   * common with it, undefined where the write leaves them as they are.
   */
  readonly values: Readonly<Record<string, string | undefined>>
}

/** What the caller of a write may refer to. */
export interface ReferenceAccess {
  /** Which rows of the target. One that is not among them counts as missing. */
  refer(row: ReferredRow): RowLimits | Promise<RowLimits>
}

/** Options of an operation that writes references. */
export interface ReferringOptions {
  /** What the caller may refer to. Default: everything in the tenant. */
  readonly references?: ReferenceAccess
}

/** Options of an operation that reaches what refers to an entity. */
export interface RelatedOptions {
  /**
   * How many rows of all resources together it may delete; one more is an ErrPreconditionFailed. Rows that
   * only lose a reference do not count. Default: 1000.
   */
  readonly maxRows?: number
  /** What the caller may do with the other resources. Default: everything in the tenant. */
  readonly related?: RelatedAccess
}
