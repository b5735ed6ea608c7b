import type { Field } from '../../resource/fields/field.js'
import { Internal, InvalidArgument } from '../../errors.js'
import { keyPartOf } from '../../resource/keys/key-part.js'
import { checkValue } from '../../resource/values/check-value.js'
import { zeroOf } from '../../resource/values/conversions.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { siblingsCleared } from '../../resource/values/oneofs.js'
import { copied, isSame } from '../../resource/values/same-value.js'
import { FieldIncrement } from '../../resource/values/increment.js'
import { KeptUnread } from '../../resource/values/kept-unread.js'
import type { Values } from '../contract/new-entity.js'

/** Returns copies of an entity's values, so that later changes of the entity do not affect them. */
export function valuesOf(model: ResourceModel, entity: object): Values {
  const values: Values = {}
  for (const { property } of model.entityFields) values[property] = copied((entity as Values)[property])
  for (const property of guarded(model)) values[property] = (entity as Values)[property]
  return values
}

/** Copies values to the properties of an entity, and returns the entity. */
export function patched<E extends object>(model: ResourceModel<E>, entity: E, values: Readonly<Values>): E {
  const to = entity as Values
  for (const { property } of model.entityFields) {
    if (!Object.hasOwn(values, property)) continue
    const value = values[property]
    if (property === model.version?.property) to[property] = Number(to[property] ?? 0) + Number(value)
    else if (value instanceof KeptUnread) to[property] = copied(value.value)
    else to[property] = value instanceof FieldIncrement ? value.addedTo(to[property]) : copied(value)
  }
  return entity
}

/**
 * Returns the properties that a hook has changed.
 *
 * @param isNew - true for a new row. A hook may then set the key if the caller has not.
 * @throws TypeError if the hook changed a property that only the repository sets.
 * @throws InvalidArgument if a column cannot hold a value.
 * @throws Internal if the column cannot hold the hook's key.
 */
export function changesOf(
  model: ResourceModel,
  before: Readonly<Values>,
  entity: object,
  hook: string,
  isNew = false,
): Values {
  const after = entity as Values
  for (const property of guarded(model))
    if (after[property] !== before[property])
      throw refusal(hook, property, 'a hook cannot read or set secrets')
  const changes: Values = {}
  for (const field of model.entityFields) {
    const { property } = field
    if (isSame(before[property], after[property])) continue
    const isUnset = isNew && field === model.key && (before[property] ?? '') === ''
    if (isUnset && field.isIdentity !== true) {
      const key = fittingKey(model, after[property], hook)
      if (key !== undefined) changes[property] = key
      after[property] = key ?? before[property]
      continue
    }
    const why = refused(field, isNew)
    if (why !== undefined) throw refusal(hook, property, why)
    after[property] ??= model.message === undefined ? undefined : zeroOf(field)
    changes[property] = after[property]
  }
  for (const { property } of siblingsCleared(model.oneofs, changes))
    if (after[property] !== undefined) after[property] = changes[property] = undefined
  const changed = Object.keys(changes).filter((property) => !isNew || property !== model.key.property)
  if (changed.length > 0) model.checkValues(entity, changed)
  return changes
}

/**
 * Converts the key that a hook has set to the type of its property. Returns undefined if it is empty.
 *
 * @throws Internal if the column cannot hold it, because the caller has not chosen the key.
 */
function fittingKey(model: ResourceModel, given: unknown, hook: string): unknown {
  if (given === undefined || given === null || given === '') return undefined
  const { key } = model
  const { textOf, valueOf, meant } = keyPartOf(key)
  const text = textOf(given)
  const canonical = meant(text) ?? text
  const value = valueOf(canonical)
  try {
    if (canonical === '' || value === undefined)
      throw new InvalidArgument(key.proto, 'is a value of another type or range')
    checkValue(key, value)
  } catch (error) {
    const { message } = error as Error
    throw new Internal(new RangeError(`${hook} has set a key that its column cannot hold: ${message}`))
  }
  return value
}

const refusal = (hook: string, property: string, why: string): TypeError =>
  new TypeError(`${hook} has changed ${property}: ${why}`)

/** Returns why even server code cannot write a field, or undefined if it can. */
const refused = (field: Field, isNew: boolean): string | undefined => {
  if (field.writable) return undefined
  if (field.generated === true) return 'the table sets this column'
  if (field.isNotUpdated === true && !isNew) return 'no update writes it (update: false)'
  switch (field.role) {
    case 'key':
      return field.isIdentity === true
        ? 'the database generates it'
        : 'a key never changes; to generate keys differently, pass the option newKey to the repository'
    case 'tenant':
      return 'the tenant comes from the principal of the call'
    case 'expireTime':
    case 'outputOnly':
    case 'plain':
      return undefined
    default:
      return 'the repository sets it at every write'
  }
}

const guardedOf = new WeakMap<ResourceModel, readonly string[]>()

/** Returns the properties of secrets and credentials and of their columns. */
const guarded = (model: ResourceModel): readonly string[] => {
  const known = guardedOf.get(model)
  if (known !== undefined) return known
  const { fields, secrets, credentials } = model
  const properties = [
    ...[...secrets, ...credentials].map(({ property }) => property),
    ...fields
      .filter(({ role }) => role === 'secret' || role === 'credential')
      .map(({ property }) => property),
  ]
  guardedOf.set(model, properties)
  return properties
}
