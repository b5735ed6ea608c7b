import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import { maskReader } from '../../resource/messages/field-readers.js'
import type { Reader } from '../../resource/messages/field-readers.js'
import type { Local } from '../../resource/messages/local-field.js'

/** A request that writes the part of a resource which its `update_mask` names (AIP-134). */
export interface UpdateRequest {
  readonly resource: DescField & { readonly message: DescMessage }
  readonly mask: Reader<readonly string[]>
}

const MASK = 'update_mask'

/**
 * The resource and the mask of an update request, be it one of its own, an item of a batch or a message of a
 * stream; undefined for other messages. Of several messages beside the mask, the resource is the one that the
 * request's name speaks of.
 */
export const updateRequest = (desc: DescMessage): UpdateRequest | undefined => {
  const mask = maskReader(desc, MASK)
  const messages = desc.fields.filter(isResource)
  const resource = messages.find(({ name }) => namesResource(desc, name)) ?? messages[0]
  if (mask === undefined || resource === undefined) return undefined
  return messages.length === 1 || namesResource(desc, resource.name) ? { resource, mask } : undefined
}

const isResource = (field: DescField): field is UpdateRequest['resource'] & DescField =>
  field.fieldKind === 'message' && !field.message.typeName.startsWith('google.protobuf.')

/** `UpdateStockItemRequest` speaks of `stock_item`. */
const namesResource = ({ name }: DescMessage, field: string): boolean =>
  name.toLowerCase() === `update${field.replaceAll('_', '')}request`

/** The resource that the request carries. */
export const resourceOf = ({ resource }: UpdateRequest, request: Message): Message | undefined =>
  (request as Local)[resource.localName] as Message | undefined
