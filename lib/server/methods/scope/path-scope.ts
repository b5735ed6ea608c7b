import {
  type DescField,
  type DescMessage,
  type DescMethod,
  isFieldSet,
  type Message,
} from '@bufbuild/protobuf'
import { ErrNotFound, InvalidArgument } from '../../../errors.js'
import type { ListScope } from '../../../persistence/contract/repository.js'
import { type Filter, hasValue, type FilterValue } from '../../../persistence/query/filter-template.js'
import { keyPartOf } from '../../../resource/keys/key-part.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { valueOf } from '../../chain/method.js'
import { fieldNamed } from '../../../resource/messages/field-readers.js'
import type { NamePattern } from '../../../resource/names/name-pattern.js'
import type { Pattern } from '../../../resource/names/pattern.js'
import { isText } from '../../../resource/names/resource-annotation.js'
import { pathsOf } from '../../../resource/messages/http-paths.js'
import { parentIn } from './names-in-requests.js'

/** The value that a field of an entity must have. */
export interface Held {
  /** Proto name. */
  readonly name: string
  readonly value: unknown
}

/** A request field that limits a call to some resources: `parent`, a name, or a variable of the HTTP path. */
export interface ScopeField {
  /** The name of the request field. */
  readonly name: string
  /** True if it is the name of the resource itself. */
  readonly own: boolean
  /** Returns the values that the resources must have. */
  readonly in: (request: Message) => readonly Held[]
}

/**
 * Returns the scope of a method: `parent`, and the path variables that are also fields of the resource,
 * except its key. If the resource has a name, `parent` is a name.
 */
export const scopeFields = (
  method: DescMethod,
  resource: DescMessage,
  name: NamePattern | undefined,
): ScopeField[] =>
  [...new Set(['parent', ...boundPaths(method)])].flatMap((path) => {
    const [first = '', inner] = path.split('.')
    const field = fieldNamed(method.input, first)
    if (field === undefined || (inner ?? first) === name?.field.name) return []
    if (path === 'parent' && name?.parent !== undefined) return parentField(method, field, name, name.parent)
    if (inner === undefined)
      return sameIn(resource, field) ? [scopeField(first, (one) => valueOf(one, field))] : []
    const nested = field.fieldKind === 'message' ? fieldNamed(field.message, inner) : undefined
    if (nested === undefined || !sameIn(resource, nested)) return []
    const read = (request: Message) => {
      const holder = valueOf(request, field) as Message | undefined
      return holder === undefined ? undefined : valueOf(holder, nested)
    }
    return [scopeField(inner, read)]
  })

const scopeField = (name: string, read: (request: Message) => unknown): ScopeField => ({
  name,
  own: false,
  in: (request) => [{ name, value: read(request) }],
})

/** Returns the scope of `parent`. A batch may omit its parent, which is then part of each name (AIP-231). */
const parentField = (
  method: DescMethod,
  field: DescField,
  name: NamePattern,
  pattern: Pattern,
): ScopeField[] => {
  if (!isText(field)) return []
  const isBatch = method.name.startsWith('Batch')
  const reads = method.name.startsWith('Create') ? 'one' : 'any'
  return [
    {
      name: field.name,
      own: false,
      in: (request) => {
        const text = valueOf(request, field) as string
        return isBatch && text === '' ? [] : parentIn(name, pattern, text, reads)
      },
    },
  ]
}

/** Returns the scope as a predicate, separate from the caller's filter. */
export const under = (
  model: ResourceModel,
  scope: readonly ScopeField[],
  request: Message,
): Pick<ListScope, 'under'> => {
  if (scope.length === 0) return {}
  const conditions = heldIn(scope, request).map(({ name, value: wire }) => {
    if (!model.byProto.has(name)) throw new ErrNotFound()
    const value = heldValue(model, name, wire)
    if (value === undefined) throw new ErrNotFound()
    // No resource has a field that is not a finite number.
    if (typeof value === 'number' && !Number.isFinite(value)) throw new ErrNotFound()
    return hasValue(name, value as FilterValue)
  })
  return conditions.length === 0 ? {} : { under: conditions.join(' AND ') as Filter }
}

/** Returns the values that the entities of a request must have. */
export const heldIn = (scope: readonly ScopeField[], request: Message): readonly Held[] =>
  scope.flatMap((field) => field.in(request))

/** @throws {@link ErrNotFound} if the entity is outside the request's scope. */
export const checkScope = (
  model: ResourceModel,
  scope: readonly ScopeField[],
  request: Message,
  entity: object,
): void => {
  for (const field of scope) checkHeld(model, field.in(request), entity)
}

/** @throws {@link ErrNotFound} if the entity has other values. */
export const checkHeld = (model: ResourceModel, held: readonly Held[], entity: object): void => {
  for (const { name, value } of held) {
    const property = model.byProto.get(name)?.property
    const actual = property === undefined ? undefined : (entity as Record<string, unknown>)[property]
    if (actual !== heldValue(model, name, value)) throw new ErrNotFound()
  }
}

/** The resource in a request, and the entity built from it. */
export interface Sent {
  readonly message: Message
  readonly entity: object
}

/**
 * Sets the scope's values on a new entity.
 * @param tenant - the call's tenant; undefined for access to every tenant.
 * @throws {@link ErrNotFound} if the parent belongs to another tenant.
 */
export const putScope = (
  model: ResourceModel,
  scope: readonly ScopeField[],
  request: Message,
  { message, entity }: Sent,
  tenant: string | undefined,
): void => {
  const values = entity as Record<string, unknown>
  for (const { name, value: wire } of heldIn(scope, request)) {
    const field = model.byProto.get(name)
    const property = field?.property ?? name
    // A value that is not in canonical form is kept, so that the error can name its field.
    const value = heldValue(model, name, wire) ?? wire
    const inside = values[property]
    if (inside !== undefined && inside !== '' && inside !== value && isSetIn(message, model, name)) {
      throw new InvalidArgument(name, 'differs from the resource')
    }
    if (field?.role === 'tenant' && tenant !== undefined && tenant !== keyPartOf(field).textOf(value))
      throw new ErrNotFound()
    values[property] = value
  }
}

/**
 * Returns true if the client has set the field. A field without presence counts as unset if it has its zero
 * value.
 */
const isSetIn = (message: Message, model: ResourceModel, name: string): boolean => {
  const field = model.message && fieldNamed(model.message, name)
  return field === undefined || isFieldSet(message, field)
}

/**
 * Converts a required value to the type of the entity's property. Undefined for a key of another resource
 * that is not in canonical form, because nothing can refer to it.
 */
const heldValue = (model: ResourceModel, name: string, wire: unknown): unknown => {
  const field = model.byProto.get(name)
  if (field === undefined || kindOf(field).key === undefined || kindOf(field).isText) return wire
  const part = keyPartOf(field)
  return part.valueOf(part.textOf(wire))
}

const KEYS = ['id', 'name']

const sameIn = (resource: DescMessage, field: DescField): boolean => {
  const twin = KEYS.includes(field.name) ? undefined : fieldNamed(resource, field.name)
  return (
    twin?.fieldKind === 'scalar' &&
    field.fieldKind === 'scalar' &&
    twin.scalar === field.scalar &&
    twin.oneof === undefined &&
    field.oneof === undefined
  )
}

const boundPaths = (method: DescMethod): string[] =>
  pathsOf(method).flatMap((path) => [...path.matchAll(/\{([A-Za-z0-9_.]+)/g)].map(([, bound = '']) => bound))
