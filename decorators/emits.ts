import { onClass } from './apply.js'
import { declare } from './entity-facts.js'

/**
 * The changes of a resource. `deleted` is a soft delete, or the removal of a resource that cannot be
 * undeleted. `purged` is the removal of a resource that could have been undeleted or has expired.
 */
/** A change that may become an event. */
export type ChangeKind = 'created' | 'updated' | 'deleted' | 'undeleted' | 'purged'

export const CHANGES: readonly ChangeKind[] = ['created', 'updated', 'deleted', 'undeleted', 'purged']

/** Options of `@Emits()`. */
export interface EmitsOptions {
  /** The changes that emit an event. Default: all. */
  readonly on?: readonly ChangeKind[]
  /**
   * The additional content of `data`, which always contains `resource`, the resource after the change.
   * `before` adds the resource before the change. `changed` adds the names of the fields that an update has
   * changed, as in an update mask. Default: nothing.
   */
  readonly include?: 'before' | 'changed'
  /**
   * The `source` of the events, a URI reference (CloudEvents 1.0). Default: `/` followed by the resource
   * type.
   */
  readonly source?: string
  /**
   * The fields with free-form JSON (`google.protobuf.Struct`, `Value`, `ListValue`) to include in `data`, as
   * named in the .proto: `settings`, or `address.extra` inside a message. Default: none.
   */
  readonly freeForm?: readonly string[]
}

const INCLUDED: readonly string[] = ['before', 'changed']

/**
 * Writes an event to the table `outbox` for each change of a resource, in the transaction of the change.
 * Events never contain secrets or credentials, and contain free-form JSON only if `freeForm` names it. An
 * update that only changes the etag and `update_time` emits no event.
 *
 * @throws {RangeError} if a change is unknown or `source` is blank.
 * @example
 * ```ts
 * import { Emits, Resource, TenantScoped } from 'ashlar'
 * import { Column, Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('parcels')
 * @TenantScoped()
 * @Emits({ include: 'changed' })
 * class Parcel {
 *   @PrimaryColumn() id!: string
 *   @Column() address!: string
 *   accountId!: string
 * }
 * ```
 */
export function Emits(options: EmitsOptions = {}): ClassDecorator {
  const { on = CHANGES, include, source, freeForm = [] } = options
  const isList = Array.isArray(on as unknown)
  const unknown = isList ? on.filter((change) => !CHANGES.includes(change)) : on
  if (unknown.length > 0 || on.length === 0)
    throw new RangeError(
      `@Emits: on is ${on.length === 0 ? 'empty' : JSON.stringify(unknown)}: list one or more of ${CHANGES.join(', ')}`,
    )
  if (include !== undefined && !INCLUDED.includes(include))
    throw new RangeError(`@Emits: include is ${JSON.stringify(include)}: write 'before' or 'changed'`)
  if (source !== undefined && !/^[^\s\p{C}]{1,255}$/u.test(source))
    throw new RangeError('@Emits: source is a URI reference of 1 to 255 characters without spaces')
  return onClass('Emits', [options], (entity) => {
    declare(entity, 'Emits', { emits: { on: new Set(on), include, source, freeForm } })
  })
}
