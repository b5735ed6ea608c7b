import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import { maskReader } from '../../resource/messages/field-readers.js'
import type { Reader } from '../../resource/messages/field-readers.js'
import type { Local } from '../../resource/messages/local-field.js'

/** A request that writes the fields of a resource that its `update_mask` names (AIP-134). */
export interface UpdateRequest {
  readonly resource: DescField & { readonly message: DescMessage }
  readonly mask: Reader<readonly string[]>
}

const MASK = 'update_mask'

/**
 * Returns the resource and mask of an update request, which may also be a batch item or a streamed message.
 * Undefined for other messages. If there are several messages besides the mask, the resource is the one that
 * the request's name contains.
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

/** True if a request's name contains the resource: `UpdateStockItemRequest` contains `stock_item`. */
const namesResource = ({ name }: DescMessage, field: string): boolean =>
  name.toLowerCase() === `update${field.replaceAll('_', '')}request`

/** Returns the resource that the request contains. */
export const resourceOf = ({ resource }: UpdateRequest, request: Message): Message | undefined =>
  (request as Local)[resource.localName] as Message | undefined
