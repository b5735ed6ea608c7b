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
  /** The current time; the system's clock when left out. */
  readonly now?: () => Date
  /** Mints a key for an entity that came without one; UUIDv7 when left out. */
  readonly newKey?: (now: Date) => PartValue
}

export type Values = Record<string, unknown>

/** The time at which a write happens, cut to what every column keeps. */
export const nowOf = (sources: Sources): Date => sources.now?.() ?? new Date()

/**
 * The entity a create stores: what the caller gave, with key, tenant, times and etag assigned.
 * @param rangeOf - what the engine can hold of an integer, where that is less than the kind.
 * @param hooksSetKey - whether a hook may set values that the caller has not chosen: the key stays unset, see
 * {@link keyMade}, and {@link checkRequired} is called after the hook.
 * @throws InvalidArgument for a value that no column can hold, or a system call that names no tenant.
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
    // A value that the table sets is read back.
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
    throw new InvalidArgument(tenant.proto, 'a system call has to say whose resource it creates')
  return entity
}

/** @throws InvalidArgument for a field that a new row needs and that nothing has set. */
export function checkRequired({ required }: Pick<ResourceModel, 'required'>, values: Readonly<Values>): void {
  for (const field of required) if ((values[field.property] ?? undefined) === undefined) throw missing(field)
}

/** The error of a field that a row needs and that nothing has set. */
export const missing = ({ proto }: Pick<Field, 'proto'>): InvalidArgument =>
  new InvalidArgument(proto, 'is required')

/**
 * True if the repository does not generate the key of a new entity: the caller chose it, or a function of the
 * application or the database generates it.
 */
export const hasOwnKey = <E extends object>({ key }: ResourceModel<E>, input: Partial<E>, sources: Sources) =>
  sources.newKey !== undefined ||
  key.isIdentity === true ||
  ((input as Readonly<Values>)[key.property] ?? '') !== ''

/** @throws TypeError for an option that would generate keys that the database generates. */
export function checkNewKey({ entity, key }: ResourceModel, { newKey: made }: Sources): void {
  if (key.isIdentity === true && made !== undefined)
    throw new TypeError(
      `${entity.name}: the database generates ${key.property}: drop the option newKey, or declare @PrimaryColumn() ${key.property}`,
    )
}

/** The values of an entity, in which `project: { id: 'p1' }` is `projectId: 'p1'`. */
export const withKeys = <E extends object>({ relations }: ResourceModel, entity: E): E =>
  withReferredKeys(relations, entity, (target) => resourceModel<object>(target).key.property)

function initialValue(
  field: Field,
  from: Readonly<Values>,
  /** The initial value of the class's property. */
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
      // Whatever the caller sent; only a system call over all tenants may say whose it is.
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
 * The tenant's value in an entity. @throws PermissionDenied for a tenant that the column cannot hold, because
 * no row belongs to it.
 */
function ownerOf(field: Field, tenant: string, range: Range | undefined): PartValue {
  const value = keyPartOf(field).valueOf(tenant)
  const held = range === undefined ? field : { ...field, range }
  if (value === undefined || kindOf(field).problem(value, held) !== undefined)
    throw new PermissionDenied('the tenant of the call is none that this resource can belong to')
  return value
}

/** The key is known once the row exists. @throws InvalidArgument if the caller chose a key. */
function generatedLater({ proto }: Field, given: unknown): undefined {
  if (given !== undefined && given !== '') throw choosesGenerated(proto)
}

/** The key that the repository generates. @throws InvalidArgument if it cannot generate one. */
export const keyMade = (field: Field, sources: Sources, now = nowOf(sources)): PartValue =>
  (sources.newKey ?? minterOf(field))(now)

/** The generator of keys that callers do not choose. @throws InvalidArgument if there is none. */
function minterOf(field: Field): (now: Date) => PartValue {
  if (kindOf(field).key?.takesUuid(field) === true) return newKey
  throw new InvalidArgument(field.proto, 'is required: choose it when you create the resource')
}
