import { InvalidArgument } from '../../errors.js'
import { zeroOf } from '../../resource/values/conversions.js'
import { allEmbedded, columnsOf } from '../../resource/typeorm/embedded.js'
import type { Field, Role } from '../../resource/fields/field.js'
import { isOwning } from '../../resource/relations/relation.js'
import { checkMaskPaths, InvalidMask, noSuchField } from '../../resource/mask-paths.js'
import type { ResourceModel, SecretField } from '../../resource/resource-model.js'
import { mayWrite } from '../free-form/inside-mask.js'
import type { UpdateOptions } from './repository.js'

/** The fields that an update writes: plain fields, and secrets with new values. */
export interface Writes {
  readonly fields: readonly Field[]
  readonly secrets: readonly SecretField[]
}

const NOTHING: Writes = { fields: [], secrets: [] }

const WHY: Readonly<Partial<Record<Role, string>>> = {
  key: 'the key of a resource never changes',
  tenant: 'a resource never changes its tenant',
  etag: 'the server assigns it at every write; to state a precondition of an Update, pass it in the resource',
  version: 'the server counts it',
  createTime: 'the server assigns it',
  updateTime: 'the server assigns it',
  deleteTime: 'call Delete or Undelete instead',
  expireTime: 'the server assigns it',
  outputOnly: 'it is output-only',
  credential: 'a credential is minted by the server',
}
const WHY_GENERATED = 'its table sets it'
const WHY_NOT_UPDATED = 'it is set at create and never changes'
const WHY_NAME = 'the name of a resource never changes'

/**
 * Resolves a mask of proto names. An empty mask or `*` is a full update (AIP-134). It writes every writable
 * field, including zero values, and the secrets that have a new value.
 *
 * @throws InvalidArgument if a name is unknown or not writable, or for a partial entity without a mask.
 */
export function resolveMask(
  model: ResourceModel,
  entity: Readonly<Record<string, unknown>>,
  mask: readonly string[] | undefined,
  options: UpdateOptions | undefined,
): Writes {
  if (options?.touchOnly === true) return NOTHING
  const isEmpty = mask === undefined || mask.length === 0
  if (isEmpty) checkWhole(model, entity)
  if (isEmpty || (mask.length === 1 && mask[0] === '*'))
    return {
      fields: fullUpdate(model),
      secrets: model.secrets.filter(({ property }) => isNewSecret(entity[property])),
    }
  checkMaskPaths('update_mask', mask)
  const fields = new Set<Field>()
  const secrets = new Set<SecretField>()
  for (const asked of mask) {
    const name = model.codeNames?.get(asked) ?? asked
    const secret = model.secrets.find(({ proto }) => proto === name)
    const whole = model.embedded.length === 0 ? [] : columnsIn(model, name, options)
    if (secret !== undefined) secrets.add(secret)
    else if (whole.length > 0) for (const field of whole) fields.add(field)
    else fields.add(writableField(model, name, options))
  }
  // Sort by column, so that masks that differ only in order share one statement.
  const ordered: Field[] = []
  for (const field of model.entityFields) if (fields.has(field)) ordered.push(field)
  return { fields: ordered, secrets: [...secrets] }
}

/** Returns the columns of an embedded class that an update of its whole message writes. */
const columnsIn = (
  { embedded }: ResourceModel,
  name: string,
  options: UpdateOptions | undefined,
): readonly Field[] =>
  allEmbedded(embedded)
    .filter(({ proto }) => proto === name)
    .flatMap(columnsOf)
    .filter((field) => field.writable || (options?.outputOnly === true && CODE_ALONE.has(field.role)))

const full = new WeakMap<ResourceModel, readonly Field[]>()

function fullUpdate(model: ResourceModel): readonly Field[] {
  let fields = full.get(model)
  if (fields === undefined) full.set(model, (fields = model.entityFields.filter((field) => field.writable)))
  return fields
}

/**
 * Rejects a partial entity without a mask, because a full update would set all other fields to zero. A plain
 * object is partial if it lacks a field that always has a value in the message. Instances of the class and
 * entities from client messages are complete. The mask `*` confirms that missing fields become zero.
 */
function checkWhole(model: ResourceModel, entity: Readonly<Record<string, unknown>>): void {
  if (model.message === undefined || entity instanceof model.entity) return
  const missing = fullUpdate(model).filter(
    (field) =>
      !field.property.includes('.') &&
      (entity[field.property] ?? undefined) === undefined &&
      zeroOf(field) !== undefined,
  )
  if (missing.length === 0) return
  const names = missing.map(({ proto }) => proto).join(', ')
  throw new InvalidArgument(
    'update_mask',
    `names no field, which means all fields, but the entity lacks ${names}: name the fields to write, pass the whole entity, or use * to set the rest to zero`,
  )
}

const isNewSecret = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** Returns the reference of a relation that a mask names, unless a field of the message has that name. */
function referenceNamed({ relations, message }: ResourceModel, name: string): Field | undefined {
  const relation = relations.find(({ proto }) => proto === name)
  if (relation === undefined || !isOwning(relation)) return undefined
  return message?.fields.some((field) => field.name === name) === true ? undefined : relation.reference
}

function writableField(model: ResourceModel, name: string, options: UpdateOptions | undefined): Field {
  const field = model.byProto.get(name) ?? referenceNamed(model, name)
  const isOfCode =
    field !== undefined &&
    CODE_ALONE.has(field.role) &&
    field.generated !== true &&
    field.isNotUpdated !== true
  if (field?.writable || (isOfCode && options?.outputOnly)) return field as Field
  throw refusalOf(model, name, field, isOfCode)
}

/** The roles of fields that only server code may write, with `outputOnly: true`. */
const CODE_ALONE: ReadonlySet<Role> = new Set(['outputOnly', 'expireTime', 'plain'])

/**
 * Checks a request's mask before application code runs.
 *
 * @throws InvalidArgument if clients may not write a name.
 */
export function checkRequestMask(model: ResourceModel, mask: readonly string[]): void {
  checkMaskPaths('update_mask', mask)
  if (mask.length === 1 && mask[0] === '*') return
  for (const name of mask)
    if (!mayWrite(model, name))
      throw new InvalidArgument(
        'update_mask',
        refusalOf(model, name, model.byProto.get(name), false).description,
      )
}

function refusalOf(
  model: ResourceModel,
  name: string,
  field: Field | undefined,
  isOfCode: boolean,
): InvalidMask {
  const advice = isOfCode ? 'code may write it with { outputOnly: true }' : undefined
  if (field?.generated === true) return new InvalidMask(name, `${name} cannot be written: ${WHY_GENERATED}`)
  if (field?.isNotUpdated === true && field.exposed && field.role === 'plain')
    return new InvalidMask(name, `${name} cannot be written: ${WHY_NOT_UPDATED}`)
  const isCredential = model.credentials.some(({ proto }) => proto === name)
  const isComputed = model.computed.some((one) => one.proto === name && one.exposed)
  const inName = field === undefined ? name === model.name?.field.name : field.inName === true
  const why = isCredential
    ? WHY.credential
    : isComputed
      ? `${WHY.outputOnly}, computed from the others`
      : field !== undefined && !field.exposed
        ? undefined
        : inName
          ? WHY_NAME
          : field && WHY[field.role]
  if (why !== undefined) return new InvalidMask(name, `${name} cannot be written: ${why}`, advice)
  if (name === '*') return new InvalidMask(name, '* stands for every field, so it must be the only path')
  return new InvalidMask(name, noSuchField(name, model.writable), advice)
}
