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

/** The batch method of a type (AIP-231). */
export interface BatchGet {
  readonly method: DescMethod
  /** `ids` or `names` of the request. */
  readonly keys: DescField
  /** The field of a resource that has its key. */
  readonly key: DescField
  /** The resources of the response. */
  readonly items: DescField
  /** Takes a read mask; undefined where the request has none. */
  readonly mask: DescField | undefined
  /** The request's `parent` for resources of any parent; undefined if the request has none. */
  readonly parent: { readonly field: DescField; readonly value: string } | undefined
}

/** The method of a service that returns resources of a message in batches; undefined where it has none. */
export function batchGetOf(service: DescService, resource: DescMessage): BatchGet | undefined {
  for (const method of service.methods) {
    const found =
      method.name.startsWith('BatchGet') && method.methodKind === 'unary' && shapeOf(method, resource)
    if (found) return found
  }
  return undefined
}

/** The messages that methods of a service return in batches. */
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

/** `shelves/{shelf}/books/{book}` is read under `shelves/-` (AIP-159). */
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
