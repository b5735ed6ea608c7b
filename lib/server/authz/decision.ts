import type { Message } from '@bufbuild/protobuf'
import { type Filter, filter } from '../../persistence/query/filter-template.js'
import type { AuthorizationRequest, Authorizer } from './authorizer.js'

/** The call and its request, as the function of {@link authorizeEntity} receives them. */
export interface EntityRequest extends AuthorizationRequest {
  readonly message: Message
}

/** A decision that knows the row: the call reaches the rows for which `where` is true, and no other. */
export interface RowDecision {
  readonly where: Filter
  /**
   * Must hold for each row after a create or update; otherwise the call is denied and rolled back. If it is
   * omitted, `where` must hold then too. The argument is the entity.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- an authorizer serves entities of all types
  readonly check?: (entity: any) => boolean | Promise<boolean>
}

/** `true` allows the call, `false` denies it, anything else allows it for some rows. */
export type Decision = boolean | RowDecision | EntityDecision

type EntityTest = (entity: object, request: EntityRequest) => boolean | Promise<boolean>

/** A decision that a function makes for each row. Made by {@link authorizeEntity}. */
export class EntityDecision {
  constructor(
    readonly allows: EntityTest,
    readonly options: Partial<RowDecision>,
  ) {}
}

/**
 * A row-level decision made by code: `allows` is called with every entity that the call reaches. Before a
 * write the row is locked first. After a create or update it is called again with the entity as it is then,
 * unless there is a `check`.
 * A list cannot call it, because its pages would not be full. A list returns the rows of `where`, so state
 * there for which rows `allows` can hold. Without `where`, a list is a server error, which is logged.
 * @param options - `where` holds beside `allows`; `check` as of {@link RowDecision}.
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
 * The decision that an authorizer returned. Anything but `true` and an object is a denial, because JavaScript
 * code can return anything.
 * @throws TypeError for a row-level decision of an authorizer that does not declare `decidesByRow`.
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

/** A decision as a restricted repository carries it out. */
export interface Restriction {
  /** No row at all. */
  readonly isNone: boolean
  readonly where: Filter | undefined
  /** Asked about each entity that is reached. */
  readonly test: ((entity: object) => boolean | Promise<boolean>) | undefined
  /** Asked about each entity after it was written. */
  readonly check: ((entity: object) => boolean | Promise<boolean>) | undefined
}

/** @throws TypeError if the value is not a decision, so that nothing is mistaken for a permission. */
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
 * A decision as a list carries it out, of which code cannot see each row.
 * @param type - of the resource.
 * @throws TypeError where code alone decides.
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

/** Both predicates. @throws TypeError if one is invalid: the authorizer wrote it, not the caller. */
export const both = (a: Filter | undefined, b: Filter | undefined): Filter | undefined => {
  if (a === undefined || b === undefined) return a ?? b
  try {
    return filter`${a} AND ${b}`
  } catch (error) {
    throw new TypeError('a predicate of the authorizer is invalid', { cause: error })
  }
}

/** Anything but `true` is a denial: code in JavaScript can return anything. */
export const allPass = async (entities: readonly object[], test: Restriction['test']): Promise<boolean> => {
  if (test === undefined) return true
  for (const entity of entities) if ((await test(entity)) !== true) return false
  return true
}
