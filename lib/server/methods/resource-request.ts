import {
  clearField,
  type DescField,
  type DescMethod,
  isMessage,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import type { BatchDeleteOptions, ListOptions, RelatedAccess } from '../../persistence/contract/repository.js'
import { checkRequestMask } from '../../persistence/contract/update-mask.js'
import { choosesGenerated } from '../../resource/keys/generated-keys.js'
import { maskReader } from '../../resource/messages/field-readers.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { HandledCall } from '../chain/handler.js'
import { methodOf, valueOf } from '../chain/method.js'
import { repositoryKey } from './scope/wire-keys.js'
import type { ListFields, StandardMethod } from './standard-method.js'

/** Sets the new entity's key from `<resource>_id` (AIP-133). A key inside the resource must be equal. */
export const putKey = (
  { key, keys }: ResourceModel,
  entity: object,
  id: string,
  { name, scalar }: DescField,
): void => {
  // An unset number without presence.
  if (id === '' || (id === '0' && scalar !== ScalarType.STRING)) return
  if (key.isIdentity === true) throw choosesGenerated(name)
  const inside = keys.textOf(entity)
  if (inside !== '' && inside !== id)
    throw new InvalidArgument(name, 'differs from the key inside the resource')
  ;(entity as Record<string, unknown>)[key.property] = keys.keyOf(id) ?? id
}

/** Returns the keys of the resources in a reply: the reply itself, or the resources in its lists. */
export const keysIn = (reply: Message, model: ResourceModel): readonly string[] => {
  const { message, key, name } = model
  const field = name?.field ?? message?.fields.find((one) => one.name === key.proto)
  if (message === undefined || field === undefined) return []
  const values = reply.$typeName === message.typeName ? [reply] : Object.values(reply).flat()
  const texts = (values as unknown[]).flatMap((value) =>
    isMessage(value, message) ? [valueOf(value, field) as string] : [],
  )
  return texts.map((text) =>
    repositoryKey(model, name === undefined ? text : (name.parse(text)?.at(-1) ?? '')),
  )
}

export const listOptions = (request: Message, has: ListFields): ListOptions => {
  const { pageSize, pageToken } = request as Message & { pageSize: number; pageToken: string }
  return {
    pageSize,
    pageToken,
    ...(has.filter && { filter: valueOf(request, has.filter) as string }),
    ...(has.order_by && { orderBy: valueOf(request, has.order_by) as string }),
    ...(has.show_deleted && { showDeleted: valueOf(request, has.show_deleted) as boolean }),
    ...(has.q && { search: valueOf(request, has.q) as string }),
  }
}

/**
 * Returns the mask of an update without the ignored paths. The mask never becomes empty, because an empty
 * mask means a full update. A mask that contains only ignored paths is kept and writes no field. Over HTTP
 * the gateway has removed ignored paths before, unless all are ignored.
 */
export const maskToWrite = (
  paths: readonly string[],
  ignored: readonly string[],
): { readonly paths: readonly string[]; readonly touchOnly: boolean } => {
  if (ignored.length === 0) return { paths, touchOnly: false }
  const set = new Set(ignored)
  const rest = paths.filter((path) => !set.has(path))
  const touchOnly = rest.length === 0
  return { paths: touchOnly ? ignored : rest, touchOnly }
}

/**
 * Returns the response of a dry run, without generated tokens and without the number of a new row, because
 * the row is rolled back.
 */
export const concealed = (model: ResourceModel, message: Message, { kind }: StandardMethod): Message => {
  const { key, name, credentials } = model
  if (message.$typeName !== model.message?.typeName) return message
  for (const { proto } of credentials) putToken(model, message, proto, '')
  if (kind === 'create' && key.isIdentity === true)
    for (const field of model.message.fields)
      if (field.name === key.proto || field === name?.field) clearField(message, field)
  return message
}

/** Returns the response of the call that creates a credential. Only this response shows the token. */
export const withTokens = (model: ResourceModel, entity: object): Message => {
  const message = model.toMessage(entity)
  for (const { property, proto } of model.credentials) {
    putToken(model, message, proto, (entity as Record<string, unknown>)[property])
  }
  return message
}

const putToken = (model: ResourceModel, message: Message, proto: string, token: unknown): void => {
  const field = model.message?.fields.find(({ name }) => name === proto)
  if (field !== undefined && typeof token === 'string') Object.assign(message, { [field.localName]: token })
}

/** Returns the limits on related resources that a request states, and the caller's permissions on them. */
export const relatedIn = (
  request: Message,
  force: DescField | undefined,
  { related, maxRows }: { readonly related?: RelatedAccess | undefined; readonly maxRows?: number },
): BatchDeleteOptions => ({
  ...(force !== undefined && { force: valueOf(request, force) as boolean }),
  ...(related !== undefined && { related }),
  ...(maxRows !== undefined && { maxRows }),
})

type MaskCheck = (call: HandledCall) => void

/**
 * Returns a check of a request's masks that runs before the application's function or override; undefined if
 * the method has no masks.
 */
export const requestMasks = (
  desc: DescMethod,
  method: StandardMethod,
  model: ResourceModel,
): MaskCheck | undefined => {
  if (method.kind === 'batchUpdate') {
    const { requests } = method
    const mask = maskReader(requests.message, 'update_mask')
    return (
      mask &&
      (({ request }) => {
        for (const item of valueOf(request as Message, requests) as Message[])
          checkRequestMask(model, mask(item))
      })
    )
  }
  const mask = method.kind === 'update' ? methodOf(desc).updateMask : undefined
  return (
    mask &&
    (({ request, ignoredMask }) => {
      const { paths, touchOnly } = maskToWrite(mask(request as Message), ignoredMask)
      if (touchOnly) return
      if (paths.length > SHORT_MASK) return checkRequestMask(model, paths)
      for (const path of paths) if (!model.writable.has(path)) return checkRequestMask(model, paths)
    })
  )
}

/** Longer masks are also checked for too many paths. */
const SHORT_MASK = 100
