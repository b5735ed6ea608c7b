import { type DescField, type DescMessage, type DescMethod, ScalarType } from '@bufbuild/protobuf'
import { boolReader, stringReader } from '../../resource/messages/field-readers.js'
import { fieldNamed } from '../../resource/messages/field-readers.js'
import type { NamePattern, NameVariable } from '../../resource/names/name-pattern.js'
import { nearestNames } from '../../text/nearest-names.js'
import { nameField, nameProblem } from './scope/names-in-requests.js'
import { keyNamed } from './scope/wire-keys.js'
import { type ScopeField, scopeFields } from './scope/path-scope.js'

/** A method that a repository implements, with the request fields that it reads. */
export type StandardMethod = StandardShape & {
  readonly scope: readonly ScopeField[]
  /** The name pattern of the resources in the request; undefined if it contains plain keys. */
  readonly name: NamePattern | undefined
}

type StandardShape =
  | { readonly kind: 'get'; readonly key: DescField }
  | ({ readonly kind: 'delete' | 'undelete'; readonly key: DescField } & Deletion)
  | {
      readonly kind: 'list'
      readonly items: DescField
      readonly has: ListFields
      /** Undefined if the response has no `total_size`. Rows are then not counted. */
      readonly total: DescField | undefined
    }
  | { readonly kind: 'create'; readonly resource: DescField; readonly id: DescField | undefined }
  | { readonly kind: 'update'; readonly resource: DescField }
  | { readonly kind: 'batchGet'; readonly keys: DescField; readonly items: DescField }
  | ({ readonly kind: 'batchDelete'; readonly keys: DescField } & Deletion)
  | {
      readonly kind: 'batchUpdate'
      readonly requests: DescField & { message: DescMessage }
      readonly resource: DescField
      readonly items: DescField
    }

/** The options of a delete or undelete. */
interface Deletion {
  /**
   * The request field that also deletes resources that refer to the resource (AIP-135); undefined if there is
   * none.
   */
  readonly force: DescField | undefined
  /** True if the method returns an operation that continues after the response (AIP-151). */
  readonly startsOperation: boolean
}

/** Returns the change that a standard method makes to related resources. */
export const changesRelated = ({ kind }: StandardMethod): 'delete' | 'undelete' | undefined => {
  if (kind === 'undelete') return kind
  return kind === 'delete' || kind === 'batchDelete' ? 'delete' : undefined
}

/** Optional fields of a list request. Only fields that the request declares are used. */
export type ListFields = Readonly<Partial<Record<'filter' | 'order_by' | 'show_deleted' | 'q', DescField>>>

/** Explains to the author of the .proto why a method is not a standard method. */
export interface Mismatch {
  readonly differs: string
}

const PREFIXES = [
  ['BatchGet', 'batchGet'],
  ['BatchUpdate', 'batchUpdate'],
  ['BatchDelete', 'batchDelete'],
  ['Undelete', 'undelete'],
  ['Delete', 'delete'],
  ['Get', 'get'],
  ['List', 'list'],
  ['Create', 'create'],
  ['Update', 'update'],
] as const

/**
 * Recognizes a standard method (AIP-131 to 135, 164, 231, 234, 235) by the prefix of its name and by the
 * fields of its messages. A field that a repository would have to ignore makes it a mismatch.
 * @param name - the name pattern of the resource.
 */
export const standardMethod = (
  method: DescMethod,
  resource: DescMessage,
  name?: NamePattern,
): StandardMethod | Mismatch => {
  const prefix = PREFIXES.find(([text]) => method.name.startsWith(text))
  if (prefix === undefined) return { differs: "its name is not a standard method's name" }
  if (method.methodKind !== 'unary') return { differs: 'it streams' }
  const [text, kind] = prefix
  const noun = method.name.slice(text.length)
  const many = kind === 'list' || kind.startsWith('batch')
  if (many ? !isPlural(noun, resource.name) : noun !== resource.name) {
    return {
      differs: `"${noun}" is not ${many ? 'the plural of ' : ''}${resource.name}, the repository's resource`,
    }
  }
  try {
    if (name !== undefined) checkNamed(method, kind, name)
    const scope = scopeFields(method, resource, name)
    const shape = SHAPES[kind](
      method,
      resource,
      scope.map((field) => field.name),
    )
    if (name === undefined || !namesIn(shape)) return { ...shape, scope, name: undefined }
    return { ...shape, scope: [...scope, ...ownScope(shape, name)], name }
  } catch (error) {
    if (error instanceof ShapeMismatch) return { differs: error.message }
    throw error
  }
}

/** Returns true if the request identifies resources by name. A field called `id` contains a key. */
const namesIn = (shape: StandardShape): boolean => {
  if ('keys' in shape) return shape.keys.name === 'names'
  return 'key' in shape ? shape.key.name === 'name' : shape.kind === 'update' || shape.kind === 'batchUpdate'
}

/** Returns the scope given by the resource's name. In a batch, each item has its own name. */
const ownScope = (shape: StandardShape, name: NamePattern): readonly ScopeField[] => {
  if (name.variables.length === 1) return []
  if (shape.kind === 'get') return [nameField(shape.key, name, 'any')]
  if (shape.kind === 'delete' || shape.kind === 'undelete') return [nameField(shape.key, name, 'one')]
  return shape.kind === 'update' ? [nameField(name.field, name, 'one', shape.resource)] : []
}

/** @throws ShapeMismatch if no call could contain a matching name. */
const checkNamed = (method: DescMethod, kind: StandardShape['kind'], name: NamePattern): void => {
  if (name.isSingleton && CREATES_OR_DELETES.has(kind))
    throw new ShapeMismatch(
      `a ${name.singular} is a singleton (AIP-156), which is neither created nor deleted`,
    )
  const problem = nameProblem(method, name)
  if (problem !== undefined) throw new ShapeMismatch(problem)
  const isPlaced =
    stringField(method.input, 'parent') !== undefined || name.variables.slice(0, -1).every(isShown)
  if (kind === 'create' && !isPlaced)
    throw new ShapeMismatch(`${method.input.name} has no "string parent", which is ${name.parent?.text}`)
}

const isShown = ({ field }: NameVariable): boolean => field.exposed && field.role === 'plain'

const CREATES_OR_DELETES: ReadonlySet<StandardShape['kind']> = new Set([
  'create',
  'delete',
  'undelete',
  'batchDelete',
])

type Shape = (method: DescMethod, resource: DescMessage, scope: readonly string[]) => StandardShape

const WRITE_EXTRAS = ['validate_only', 'request_id']

const byKey =
  (kind: 'get' | 'delete' | 'undelete', extras: readonly string[]): Shape =>
  ({ input, output }, resource, scope) => {
    const key = keyField(input, resource)
    nothingBut(input, [key.name, ...extras, ...scope])
    if (kind !== 'get' && output.typeName === OPERATION) return { kind, key, ...deletionOf(input, true) }
    if (kind === 'delete') expectEmpty(output)
    else expectOutput(output, resource.typeName)
    return kind === 'get' ? { kind, key } : { kind, key, ...deletionOf(input, false) }
  }

const batchByKeys =
  (kind: 'batchGet' | 'batchDelete', extras: readonly string[]): Shape =>
  ({ input, output }, resource, scope) => {
    const keys =
      keyNamed(input, 'ids', 'list', resource, 'id') ?? keyNamed(input, 'names', 'list', resource, 'name')
    if (keys === undefined)
      throw new ShapeMismatch(`${input.name} has neither "repeated string ids" nor "names"`)
    nothingBut(input, [keys.name, ...extras, ...scope])
    if (kind === 'batchGet') return { kind, keys, items: itemsField(output, resource) }
    const startsOperation = output.typeName === OPERATION
    if (!startsOperation) expectEmpty(output)
    return { kind, keys, ...deletionOf(input, startsOperation) }
  }

const deletionOf = (input: DescMessage, startsOperation: boolean): Deletion => ({
  force: fieldNamed(input, 'force'),
  startsOperation,
})

const SHAPES: Readonly<Record<StandardShape['kind'], Shape>> = {
  get: byKey('get', ['read_mask']),
  delete: byKey('delete', ['etag', 'force', ...WRITE_EXTRAS]),
  undelete: byKey('undelete', ['etag', 'read_mask', ...WRITE_EXTRAS]),
  batchGet: batchByKeys('batchGet', ['read_mask']),
  batchDelete: batchByKeys('batchDelete', ['force', ...WRITE_EXTRAS]),

  list: ({ input, output }, resource, scope) => {
    const optional = ['filter', 'order_by', 'show_deleted', 'q'] as const
    nothingBut(input, ['page_size', 'page_token', ...optional, 'read_mask', ...scope])
    if (fieldNamed(input, 'page_size') === undefined || stringField(input, 'page_token') === undefined) {
      throw new ShapeMismatch(`${input.name} lacks page_size or page_token`)
    }
    if (stringField(output, 'next_page_token') === undefined)
      throw new ShapeMismatch(`${output.name} lacks next_page_token`)
    const has = Object.fromEntries(optional.map((name) => [name, fieldNamed(input, name)]))
    const items = itemsField(output, resource, ['next_page_token', 'total_size'])
    return { kind: 'list', items, has, total: totalField(output) }
  },

  create: ({ input, output }, resource, scope) => {
    const field = resourceField(input, resource)
    const id = keyNamed(input, `${field.name}_id`, 'scalar', resource, 'id')
    nothingBut(input, [field.name, `${field.name}_id`, 'read_mask', ...WRITE_EXTRAS, ...scope])
    expectOutput(output, resource.typeName)
    return { kind: 'create', resource: field, id }
  },

  update: ({ input, output }, resource) => {
    expectOutput(output, resource.typeName)
    return { kind: 'update', resource: updateResource(input, resource, ['read_mask']) }
  },

  batchUpdate: ({ input, output }, resource, scope) => {
    const requests = fieldNamed(input, 'requests')
    if (requests?.fieldKind !== 'list' || requests.listKind !== 'message') {
      throw new ShapeMismatch(`${input.name} has no repeated "requests"`)
    }
    nothingBut(input, ['requests', ...WRITE_EXTRAS, ...scope])
    const field = updateResource(requests.message, resource)
    return { kind: 'batchUpdate', requests, resource: field, items: itemsField(output, resource) }
  },
}

class ShapeMismatch extends TypeError {}

const OPERATION = 'google.longrunning.Operation'

const updateResource = (
  input: DescMessage,
  resource: DescMessage,
  extras: readonly string[] = [],
): DescField => {
  const field = resourceField(input, resource)
  const mask = fieldNamed(input, 'update_mask')
  const isMask = mask?.fieldKind === 'message' && mask.message.typeName === 'google.protobuf.FieldMask'
  if (!isMask && stringField(input, 'update_mask', 'list') === undefined) {
    throw new ShapeMismatch(`${input.name} has no update_mask (a FieldMask or repeated string)`)
  }
  nothingBut(input, [field.name, 'update_mask', ...extras, ...WRITE_EXTRAS])
  return field
}

/**
 * Finds the key field `id`, or `name` (AIP-122) if there is no `id`: a string, or an integer if the
 * resource's field is an integer.
 */
const keyField = (input: DescMessage, resource: DescMessage): DescField => {
  const key =
    keyNamed(input, 'id', 'scalar', resource, 'id') ?? keyNamed(input, 'name', 'scalar', resource, 'name')
  if (key === undefined) throw new ShapeMismatch(`${input.name} has neither "string id" nor "string name"`)
  return key
}

const stringField = (
  message: DescMessage,
  name: string,
  kind: 'scalar' | 'list' = 'scalar',
): DescField | undefined => {
  const field = fieldNamed(message, name)
  if (field?.fieldKind !== kind || field.scalar !== ScalarType.STRING || field.oneof !== undefined)
    return undefined
  return field
}

const totalField = (output: DescMessage): DescField | undefined => {
  const field = fieldNamed(output, 'total_size')
  if (field === undefined) return undefined
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.INT32) return field
  throw new ShapeMismatch(`total_size of ${output.name} is not an int32`)
}

const resourceField = (input: DescMessage, resource: DescMessage): DescField => {
  const fields = input.fields.filter(
    (field) => field.fieldKind === 'message' && field.message.typeName === resource.typeName,
  )
  const [field] = fields
  if (field === undefined || fields.length > 1)
    throw new ShapeMismatch(`${input.name} must hold one ${resource.name}`)
  return field
}

const itemsField = (
  output: DescMessage,
  resource: DescMessage,
  extras: readonly string[] = [],
): DescField => {
  const items = output.fields.find(
    (field) =>
      field.fieldKind === 'list' &&
      field.listKind === 'message' &&
      field.message.typeName === resource.typeName,
  )
  if (items === undefined) throw new ShapeMismatch(`${output.name} has no repeated ${resource.name}`)
  nothingBut(output, [items.name, ...extras])
  return items
}

const expectOutput = (output: DescMessage, typeName: string): void => {
  if (output.typeName !== typeName) throw new ShapeMismatch(`it returns ${output.typeName}, not ${typeName}`)
}

/** Checks that the response is `google.protobuf.Empty` or another message without fields. */
const expectEmpty = (output: DescMessage): void => {
  if (output.fields.length > 0) expectOutput(output, 'google.protobuf.Empty')
}

const nothingBut = (message: DescMessage, known: readonly string[]): void => {
  const names = message.fields.map(({ name }) => name)
  const stray = names.filter((name) => !known.includes(name))
  if (stray.length > 0) {
    const others = known.filter((name) => !names.includes(name))
    const [near] = stray.flatMap((name) => nearestNames(name, others))
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    throw new ShapeMismatch(`a repository would ignore ${stray.join(', ')} of ${message.name}${hint}`)
  }
  for (const { name } of message.fields) {
    const [type, reader] = TYPED_EXTRAS[name] ?? []
    if (reader !== undefined && known.includes(name) && reader(message, name) === undefined)
      throw new ShapeMismatch(`${name} of ${message.name} is not of type ${type}`)
  }
}

/** Fields that must have a certain type, because a repository would ignore any other. */
const TYPED_EXTRAS: Readonly<
  Record<string, readonly [string, (message: DescMessage, name: string) => unknown]>
> = {
  validate_only: ['bool', boolReader],
  force: ['bool', boolReader],
  request_id: ['string', stringReader],
  etag: ['string', stringReader],
}

const isPlural = (plural: string, singular: string): boolean =>
  [
    `${singular}s`,
    `${singular}es`,
    singular.replace(/y$/, 'ies'),
    singular.replace(/(?:f|fe)$/, 'ves'),
    singular,
  ].includes(plural)
