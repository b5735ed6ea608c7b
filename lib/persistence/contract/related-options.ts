import type { ResourceModel } from '../../resource/resource-model.js'
import type { Filter } from '../query/filter-template.js'

/**
 * A relation through which a filter and an order may lead: its property, such as `project`, or a path of at most three,
 * `project.owner`. With a `where`, only the resources for which that is true are there for the filter and the order.
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

/** Options of an operation that reaches what refers to an entity. */
export interface RelatedOptions {
  /** How many rows of all resources together it may write; one more is an ErrPreconditionFailed. Default: 1000. */
  readonly mostRows?: number
  /** What the caller may do with the other resources. Default: everything in the tenant. */
  readonly related?: RelatedAccess
}
