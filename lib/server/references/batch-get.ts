import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  ScalarType,
} from '@bufbuild/protobuf'
import { canBeKey } from '../../resource/keys/on-the-wire.js'
import { fieldNamed, maskReader } from '../../resource/messages/field-readers.js'
import { resourceAnnotation } from '../../resource/names/resource-annotation.js'
import { keyNamed } from '../methods/scope/wire-keys.js'

/** The batch get method of a resource type (AIP-231). */
export interface BatchGet {
  readonly method: DescMethod
  /** The request field `ids` or `names`. */
  readonly keys: DescField
  /** The resource's key field. */
  readonly key: DescField
  /** The response field that contains the resources. */
  readonly items: DescField
  /** The request's read mask field; undefined if it has none. */
  readonly mask: DescField | undefined
  /** The request's `parent` with the value that stands for any parent; undefined if the request has none. */
  readonly parent: { readonly field: DescField; readonly value: string } | undefined
}

/** Returns the service's method that returns the resource in batches; undefined if there is none. */
export function batchGetOf(service: DescService, resource: DescMessage): BatchGet | undefined {
  for (const method of service.methods) {
    const found =
      method.name.startsWith('BatchGet') && method.methodKind === 'unary' && shapeOf(method, resource)
    if (found) return found
  }
  return undefined
}

/** Returns the messages that the service's methods return in batches. */
export const batchedMessages = (service: DescService): readonly DescMessage[] => {
  const messages = service.methods.flatMap(({ output }) =>
    output.fields.flatMap((field) => (field.fieldKind === 'list' && field.message) || []),
  )
  return [...new Set(messages)].filter((message) => batchGetOf(service, message) !== undefined)
}

function shapeOf(method: DescMethod, resource: DescMessage): BatchGet | undefined {
  const { input, output } = method
  const items = output.fields.find(
    (field) => field.fieldKind === 'list' && field.message?.typeName === resource.typeName,
  )
  const ids = keyNamed(input, 'ids', 'list', resource, 'id')
  const [list, key] =
    ids === undefined ? [textList(input, 'names'), text(resource, 'name')] : [ids, keyOf(resource)]
  if (items === undefined || list === undefined || key === undefined) return undefined
  const mask = maskReader(input, 'read_mask') === undefined ? undefined : fieldNamed(input, 'read_mask')
  return { method, keys: list, key, items, mask, parent: anyParent(input, resource) }
}

/**
 * Returns the parent for reading resources of all parents: `shelves/{shelf}/books/{book}` is read under
 * `shelves/-` (AIP-159).
 */
function anyParent(input: DescMessage, resource: DescMessage): BatchGet['parent'] {
  const field = text(input, 'parent')
  if (field === undefined) return undefined
  const segments = (resourceAnnotation(resource)?.patterns[0] ?? '').split('/').slice(0, -2)
  return { field, value: segments.map((one) => (one.startsWith('{') ? '-' : one)).join('/') }
}

const keyOf = (message: DescMessage): DescField | undefined => {
  const field = fieldNamed(message, 'id')
  return field?.fieldKind === 'scalar' && canBeKey(field) ? field : undefined
}

const text = (message: DescMessage, name: string): DescField | undefined => {
  const field = fieldNamed(message, name)
  return field?.fieldKind === 'scalar' && field.scalar === ScalarType.STRING && field.oneof === undefined
    ? field
    : undefined
}

const textList = (message: DescMessage, name: string): DescField | undefined => {
  const field = fieldNamed(message, name)
  return field?.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.STRING
    ? field
    : undefined
}
