import { InvalidArgument, PermissionDenied } from '../../errors.js'
import { zeroOf } from '../../resource/values/conversions.js'
import { withPaths } from '../../resource/typeorm/embedded.js'
import type { Field } from '../../resource/fields/field.js'
import { siblingsCleared } from '../../resource/values/oneofs.js'
import { withReferredKeys } from '../../resource/relations/referred-keys.js'
import { type ResourceModel, resourceModel } from '../../resource/resource-model.js'
import type { Range } from '../../resource/kinds/kind.js'
import { keyPartOf, type PartValue } from '../../resource/keys/key-part.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { choosesGenerated } from '../../resource/keys/generated-keys.js'
import { newEtag, newKey } from './new-key.js'
import { refuseIncrement } from '../../resource/values/increment.js'
import type { Scope } from './scope.js'

/** The sources of the time and of the keys. */
export interface Sources {
  /** Returns the current time. Default: the system's clock. */
  readonly now?: () => Date
  /** Generates a key for an entity without one. Default: UUIDv7. */
  readonly newKey?: (now: Date) => PartValue
}

export type Values = Record<string, unknown>

/** Returns the time of a write. */
export const nowOf = (sources: Sources): Date => sources.now?.() ?? new Date()

/**
 * Returns the entity that a create stores: the caller's values with the assigned key, tenant, times and etag.
 *
 * @param rangeOf - returns the engine's range of an integer, if it is smaller than the kind's.
 * @param hooksSetKey - true if a hook may set values that the caller has not chosen. The key then stays
 *   unset (see
 * {@link keyMade}), and {@link checkRequired} runs after the hook.
 * @throws InvalidArgument if a column cannot hold a value, or if a system call does not name a tenant.
 */
export function newEntity<E extends object>(
  model: ResourceModel<E>,
  input: Partial<E>,
  scope: Scope,
  sources: Sources,
  rangeOf: (field: Field) => Range | undefined = () => undefined,
  hooksSetKey = false,
): E {
  const entity = model.create()
  const to = entity as Values
  const named = (model.relations.length === 0 ? input : withKeys(model, input)) as Readonly<Values>
  const from = model.embedded.length === 0 ? named : withPaths(model.embedded, named)
  const now = nowOf(sources)
  const { tenant } = model
  const owner =
    tenant === undefined || scope.tenant === undefined
      ? undefined
      : ownerOf(tenant, scope.tenant, rangeOf(tenant))
  for (const field of model.entityFields)
    // A value that the database sets is read back after the insert.
    if (field.generated === true || field.isNotInserted === true) to[field.property] = field.default?.make()
    else if (hooksSetKey && field.role === 'key' && !hasOwnKey(model, input, sources))
      to[field.property] = undefined
    else to[field.property] = initialValue(field, from, to[field.property], model, owner, sources, now)
  if (model.oneofs.length > 0) {
    for (const { property } of siblingsCleared(model.oneofs, from)) to[property] = undefined
    siblingsCleared(model.oneofs, to)
  }
  model.checkValues(entity)
  if (!hooksSetKey) checkRequired(model, to)
  if (tenant !== undefined && (to[tenant.property] ?? '') === '')
    throw new InvalidArgument(tenant.proto, 'a system call must name the tenant whose resource it creates')
  return entity
}

/**
 * Checks that required fields have a value.
 *
 * @throws InvalidArgument if a required field of a new row has no value.
 */
export function checkRequired({ required }: Pick<ResourceModel, 'required'>, values: Readonly<Values>): void {
  for (const field of required) if ((values[field.property] ?? undefined) === undefined) throw missing(field)
}

/** Returns the error for a required field without a value. */
export const missing = ({ proto }: Pick<Field, 'proto'>): InvalidArgument =>
  new InvalidArgument(proto, 'is required')

/**
 * Returns true if the repository does not generate the key, because the caller chose it, or because the
 * application's function or the database generates it.
 */
export const hasOwnKey = <E extends object>({ key }: ResourceModel<E>, input: Partial<E>, sources: Sources) =>
  sources.newKey !== undefined ||
  key.isIdentity === true ||
  ((input as Readonly<Values>)[key.property] ?? '') !== ''

/** @throws TypeError if the option `newKey` is set although the database generates the keys. */
export function checkNewKey({ entity, key }: ResourceModel, { newKey: made }: Sources): void {
  if (key.isIdentity === true && made !== undefined)
    throw new TypeError(
      `${entity.name}: the database generates ${key.property}: drop the option newKey, or declare @PrimaryColumn() ${key.property}`,
    )
}

/** Returns an entity's values with `project: { id: 'p1' }` replaced by `projectId: 'p1'`. */
export const withKeys = <E extends object>({ relations }: ResourceModel, entity: E): E =>
  withReferredKeys(relations, entity, (target) => resourceModel<object>(target).key.property)

function initialValue(
  field: Field,
  from: Readonly<Values>,
  /** The property's initial value in the class. */
  initial: unknown,
  model: ResourceModel,
  owner: PartValue | undefined,
  sources: Sources,
  now: Date,
): unknown {
  const given = from[field.property] ?? undefined
  if (typeof given === 'object') refuseIncrement(model, field, given)
  switch (field.role) {
    case 'key':
      if (field.isIdentity === true) return generatedLater(field, given)
      return given === undefined || given === '' ? keyMade(field, sources, now) : given
    case 'tenant':
      // Ignores the caller's value. Only a system call across all tenants may choose the tenant.
      return owner ?? given
    case 'etag':
      return newEtag()
    case 'version':
      return 1
    case 'createTime':
    case 'updateTime':
      return now
    case 'deleteTime':
      return undefined
    case 'expireTime':
      return given ?? (model.ttlMs === undefined ? undefined : new Date(now.getTime() + model.ttlMs))
    default:
      if (field.isFilledByTable === true) return given ?? initial
      return (
        given ?? initial ?? field.default?.make() ?? (model.message === undefined ? undefined : zeroOf(field))
      )
  }
}

/**
 * Converts the tenant to the value of its column.
 *
 * @throws PermissionDenied if the column cannot hold the tenant. No row belongs to it.
 */
function ownerOf(field: Field, tenant: string, range: Range | undefined): PartValue {
  const value = keyPartOf(field).valueOf(tenant)
  const held = range === undefined ? field : { ...field, range }
  if (value === undefined || kindOf(field).problem(value, held) !== undefined)
    throw new PermissionDenied('the tenant of the call is not a value that this resource can store')
  return value
}

/**
 * Leaves the key unset: the database generates it on insert.
 * @throws InvalidArgument if the caller chose a key.
 */
function generatedLater({ proto }: Field, given: unknown): undefined {
  if (given !== undefined && given !== '') throw choosesGenerated(proto)
}

/**
 * Returns a key that the repository generates.
 * @throws InvalidArgument if it cannot generate one.
 */
export const keyMade = (field: Field, sources: Sources, now = nowOf(sources)): PartValue =>
  (sources.newKey ?? minterOf(field))(now)

/**
 * Returns the generator of keys that callers do not choose.
 * @throws InvalidArgument if there is none.
 */
function minterOf(field: Field): (now: Date) => PartValue {
  if (kindOf(field).key?.takesUuid(field) === true) return newKey
  throw new InvalidArgument(field.proto, 'is required: choose it when you create the resource')
}
