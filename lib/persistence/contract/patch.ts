import { withPaths } from '../../resource/typeorm/embedded.js'
import type { Field } from '../../resource/fields/field.js'
import { checkValue } from '../../resource/values/check-value.js'
import { zeroOf } from '../../resource/values/conversions.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Patched } from './batch.js'
import { newEtag } from './new-key.js'
import { siblingsCleared } from '../../resource/values/oneofs.js'
import { FieldIncrement, Increment } from '../../resource/values/increment.js'
import { isSame } from '../../resource/values/same-value.js'
import { KeptUnread, mayBeUnread } from '../../resource/values/kept-unread.js'
import { resolveMask } from './update-mask.js'
import { missing, nowOf, type Sources, type Values, withKeys } from './new-entity.js'
import type { BatchUpdateItem, BatchUpdateOptions, UpdateOptions } from './repository.js'
import type { Scope } from './scope.js'
import { protectBatch, protectSecrets, type SecretOptions, type SecretWrite } from './secret-fields.js'

/** Values in the columns that the fields cannot hold. */
export interface StoredUnread {
  /** See `WrittenResource`. */
  readonly holdsUnread?: (field: Field) => boolean
}

/**
 * Returns the values that an update writes, by property: the masked fields, increments as {@link
 * FieldIncrement}, protected secrets, and a new etag and update time.
 *
 * @param later - receives the secrets, and protects them together with the secrets of other items.
 * @throws InvalidArgument if the mask or a value is invalid.
 */
export async function patchOf(
  model: ResourceModel,
  entity: object,
  mask: readonly string[] | undefined,
  options: UpdateOptions | undefined,
  sources: Sources & SecretOptions & StoredUnread,
  scope: Scope,
  later?: (write: SecretWrite) => void,
): Promise<Values> {
  const keyed = (model.relations.length === 0 ? entity : withKeys(model, entity)) as Readonly<Values>
  const { fields, secrets } = resolveMask(model, keyed, mask, options)
  const from = model.embedded.length === 0 ? keyed : withPaths(model.embedded, keyed)
  const isWhole = mask === undefined || mask.length === 0 || mask[0] === '*'
  const patch: Values = {}
  const cleared = model.oneofs.length === 0 ? NO_FIELDS : siblingsOf(model, fields, from)
  // Sort by column, like the mask's fields.
  const written =
    cleared.size === 0
      ? fields
      : model.entityFields.filter((field) => fields.includes(field) || cleared.has(field))
  for (const field of written) {
    if (cleared.has(field)) {
      patch[field.property] = undefined
      continue
    }
    const value = from[field.property] ?? (model.message === undefined ? undefined : unsetValueOf(field))
    const by = value instanceof Increment ? Increment.amountOf(value) : undefined
    const isKept =
      isWhole &&
      mayBeUnread(field, model) &&
      isSame(value, zeroOf(field)) &&
      sources.holdsUnread?.(field) !== false
    if (value === undefined && !isKept && model.required.includes(field)) throw missing(field)
    if (by === undefined && !isKept) checkValue(field, value)
    if (isKept) patch[field.property] = KeptUnread.of(field, value)
    else patch[field.property] = by === undefined ? value : FieldIncrement.of(field, by)
  }
  if (secrets.length > 0)
    if (later !== undefined) later({ secrets, input: from })
    else Object.assign(patch, await protectSecrets(secrets, from, sources, scope.context))
  return Object.assign(patch, serverSetValues(model, sources))
}

const NO_FIELDS: ReadonlySet<Field> = new Set()

/** Returns the other members of each oneof in which the update sets a member. */
const siblingsOf = ({ oneofs }: ResourceModel, fields: readonly Field[], from: Readonly<Values>) =>
  new Set(siblingsCleared(oneofs, from, (field) => fields.includes(field)))

/**
 * Returns the value of an omitted field. For a kind without a zero value, a NOT NULL column gets its default.
 */
const unsetValueOf = (field: Field): unknown =>
  zeroOf(field) ?? (field.nullable ? undefined : field.default?.make())

/**
 * Returns the values that a batch update writes for each item.
 *
 * @throws InvalidArgument if a mask or a value is invalid.
 */
export async function patchesOf<E extends object>(
  model: ResourceModel,
  items: readonly BatchUpdateItem<string, E>[],
  options: BatchUpdateOptions | undefined,
  sources: Sources & SecretOptions & StoredUnread,
  scope: Scope,
): Promise<Patched[]> {
  const patches: Patched[] = []
  const now = nowOf(sources)
  const atOnce = { ...sources, now: () => now }
  const writes: SecretWrite[] = []
  const { outputOnly = false } = options ?? {}
  for (const [index, { key, entity, fieldMask, touchOnly = false, ifMatch }] of items.entries()) {
    let write: SecretWrite = NO_SECRETS
    const later = (one: SecretWrite) => void (write = one)
    const patch = await patchOf(model, entity, fieldMask, { outputOnly, touchOnly }, atOnce, scope, later)
    patches.push({ key, index, ifMatch, patch })
    writes.push(write)
  }
  if (writes.some(({ secrets }) => secrets.length > 0)) {
    const columns = await protectBatch(writes, sources, scope.context)
    for (const [index, { patch }] of patches.entries()) Object.assign(patch, columns[index])
  }
  return patches
}

const NO_SECRETS: SecretWrite = { secrets: [], input: {} }

/** Returns the values that every write sets in addition to the caller's. */
export function serverSetValues(model: ResourceModel, sources: Sources): Values {
  const values: Values = {}
  if (model.etag !== undefined) values[model.etag.property] = newEtag()
  // Statements add this number to the stored version.
  if (model.version !== undefined) values[model.version.property] = 1
  if (model.updateTime !== undefined && model.updateTime.generated !== true)
    values[model.updateTime.property] = nowOf(sources)
  return values
}

/**
 * Returns the values that a soft delete writes: `delete_time`, and the columns that the server sets in every
 * write.
 */
export const deletionOf = (model: ResourceModel, sources: Sources): Values =>
  model.deleteTime === undefined
    ? {}
    : { ...serverSetValues(model, sources), [model.deleteTime.property]: nowOf(sources) }

/** Returns the values that an undelete writes. */
export const restorationOf = (model: ResourceModel, sources: Sources): Values =>
  model.deleteTime === undefined
    ? {}
    : { ...serverSetValues(model, sources), [model.deleteTime.property]: undefined }
