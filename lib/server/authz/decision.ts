import type { Message } from '@bufbuild/protobuf'
import { type Filter, filter } from '../../persistence/query/filter-template.js'
import type { AuthorizationRequest, Authorizer } from './authorizer.js'

/** The input of an {@link authorizeEntity} function: the decision's input and the request message. */
export interface EntityRequest extends AuthorizationRequest {
  readonly message: Message
}

/** A row-level decision: the call can access only the rows for which `where` is true. */
export interface RowDecision {
  readonly where: Filter
  /**
   * Must return true for each row after a create or update; otherwise the call is denied and rolled back. If
   * it is omitted, `where` must be true for the written row. The argument is the entity.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- an authorizer serves entities of all types
  readonly check?: (entity: any) => boolean | Promise<boolean>
}

/** `true` allows the call, `false` denies it, and an object allows it for some rows. */
export type Decision = boolean | RowDecision | EntityDecision

/** @inline */
type EntityTest = (entity: object, request: EntityRequest) => boolean | Promise<boolean>

/** A row-level decision made by code. Create one with {@link authorizeEntity}. */
export class EntityDecision {
  constructor(
    /** Decides about one entity. */
    readonly allows: EntityTest,
    readonly options: Partial<RowDecision>,
  ) {}
}

/**
 * Returns a row-level decision made by code: `allows` is called with every entity that the call accesses.
 * Before a write, the row is locked first. After a create or update, `allows` is called again with the
 * written entity unless `check` is given.
 *
 * A list cannot call `allows`, because its pages would not be full. It returns the rows that match `where`,
 * so state there for which rows `allows` can be true. If `where` is missing, a list fails with a server
 * error, which is logged.
 * @param options - `where` must hold in addition to `allows`; for `check` see {@link RowDecision}.
 * @example
 * ```ts
 * import type { Authorizer } from 'ashlar/server'
 * import { authorizeEntity } from 'ashlar/server'
 * import type { Widget } from './widget.js'
 *
 * export const authorizer: Authorizer = {
 *   decidesByRow: true,
 *   authorize: ({ type, verb }) =>
 *     type === 'widget' && verb === 'update' ? authorizeEntity((widget: Widget) => widget.size < 100) : true,
 * }
 * ```
 */
export const authorizeEntity = <E extends object>(
  allows: (entity: E, request: EntityRequest) => boolean | Promise<boolean>,
  options: Partial<RowDecision> = {},
): EntityDecision => new EntityDecision(allows as EntityTest, options)

/**
 * Validates what an authorizer returned. JavaScript code can return anything, so every value except `true`
 * and an object is a denial.
 * @throws TypeError for a row-level decision from an authorizer that does not declare `decidesByRow`.
 */
export const decisionOf = (
  returned: unknown,
  { decidesByRow }: Pick<Authorizer, 'decidesByRow'>,
): Decision => {
  if (typeof returned !== 'object' || returned === null) return returned === true
  if (decidesByRow !== true)
    throw new TypeError('the authorizer returned a row-level decision: set its `decidesByRow` to true')
  return returned as RowDecision | EntityDecision
}

/** A decision in the form that a restricted repository applies. */
export interface Restriction {
  /** True if the caller may access no row. */
  readonly isNone: boolean
  readonly where: Filter | undefined
  /** Called with each entity that the call accesses. */
  readonly test: ((entity: object) => boolean | Promise<boolean>) | undefined
  /** Called with each entity after it was written. */
  readonly check: ((entity: object) => boolean | Promise<boolean>) | undefined
}

/**
 * Converts a decision to a restriction.
 * @throws TypeError for an unknown value, which must not count as a permission.
 */
export const restrictionOf = (decision: Decision, request: () => EntityRequest): Restriction => {
  const all: Restriction = { isNone: false, where: undefined, test: undefined, check: undefined }
  if (decision === true) return all
  if (decision === false) return { ...all, isNone: true }
  if (decision instanceof EntityDecision) {
    const { where, check } = decision.options
    const test = (entity: object) => decision.allows(entity, request())
    return { ...all, where: where && given(where), test, check: check ?? test }
  }
  const { where, check } = decision as Partial<RowDecision>
  return { ...all, where: given(where), check }
}

/**
 * Returns the restriction that a list applies. A list cannot call code for each row.
 * @param type - the resource type, for the error message.
 * @throws TypeError if code alone decides.
 */
export const listable = (restriction: Restriction, type: string): Restriction => {
  if (restriction.test !== undefined && restriction.where === undefined)
    throw new TypeError(
      `the authorizer returned authorizeEntity for a list of ${type}: add \`where\`, or return { where }`,
    )
  return restriction
}

const given = (where: Filter | undefined): Filter => {
  if (typeof where !== 'string' || where.trim() === '')
    throw new TypeError(
      'the authorizer returned an object without `where`: return true, false, or { where: filter`…` }',
    )
  return where
}

/**
 * Combines two predicates with AND.
 * @throws TypeError if one is invalid. The error is the authorizer's, not the caller's.
 */
export const both = (a: Filter | undefined, b: Filter | undefined): Filter | undefined => {
  if (a === undefined || b === undefined) return a ?? b
  try {
    return filter`${a} AND ${b}`
  } catch (error) {
    throw new TypeError('a predicate of the authorizer is invalid', { cause: error })
  }
}

/**
 * Returns true if the test returns exactly `true` for every entity. JavaScript code can return anything, so
 * any other value is a denial.
 */
export const allPass = async (entities: readonly object[], test: Restriction['test']): Promise<boolean> => {
  if (test === undefined) return true
  for (const entity of entities) if ((await test(entity)) !== true) return false
  return true
}
