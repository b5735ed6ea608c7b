import {
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  type Message,
} from '@bufbuild/protobuf'
import { ErrNotFound } from '../../errors.js'
import { http } from '../../gen/google/api/annotations_pb.js'
import type { HttpRule } from '../../gen/google/api/http_pb.js'
import type { ListScope } from '../../persistence/contract/repository.js'
import { type Filter, hasValue, type FilterValue } from '../../persistence/query/filter-template.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { valueOf } from '../chain/method.js'
import { fieldNamed } from '../../resource/messages/field-readers.js'

/** A request field that limits a call to resources with the same value: `parent`, or a field of the HTTP path. */
export interface ScopeField {
  /** Proto name, the same in request and resource. */
  readonly name: string
  /** Reads the value from the request. */
  readonly in: (request: Message) => unknown
}

/** The scope of a method: `parent` and path-bound fields of the request that the resource also has, without its key. */
export const scopeFields = (method: DescMethod, resource: DescMessage): ScopeField[] =>
  [...new Set(['parent', ...boundPaths(method)])].flatMap((path) => {
    const [name = '', inner] = path.split('.')
    const field = fieldNamed(method.input, name)
    if (field === undefined) return []
    if (inner === undefined)
      return sameIn(resource, field) ? [{ name, in: (request) => valueOf(request, field) }] : []
    const nested = field.fieldKind === 'message' ? fieldNamed(field.message, inner) : undefined
    if (nested === undefined || !sameIn(resource, nested)) return []
    const read = (request: Message) => {
      const holder = valueOf(request, field) as Message | undefined
      return holder === undefined ? undefined : valueOf(holder, nested)
    }
    return [{ name: inner, in: read }]
  })

/** What the path says as a predicate, which is read apart from the caller's filter. */
export const under = (
  model: ResourceModel,
  scope: readonly ScopeField[],
  request: Message,
): Pick<ListScope, 'under'> => {
  if (scope.length === 0) return {}
  const conditions = scope.map(({ name, in: read }) => {
    if (!model.byProto.has(name)) throw new ErrNotFound()
    const value = read(request) as FilterValue
    // No resource is at a place that no number names.
    if (typeof value === 'number' && !Number.isFinite(value)) throw new ErrNotFound()
    return hasValue(name, value)
  })
  return { under: conditions.join(' AND ') as Filter }
}

/** @throws {@link ErrNotFound} when the entity is outside the scope of the request. */
export const checkScope = (
  model: ResourceModel,
  scope: readonly ScopeField[],
  request: Message,
  entity: object,
): void => {
  for (const { name, in: read } of scope) {
    const property = model.byProto.get(name)?.property
    const actual = property === undefined ? undefined : (entity as Record<string, unknown>)[property]
    if (actual !== read(request)) throw new ErrNotFound()
  }
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

const boundPaths = (method: DescMethod): string[] => {
  if (!hasOption(method, http)) return []
  const rule = getOption(method, http)
  return [rule, ...rule.additionalBindings].flatMap((binding) =>
    [...patternOf(binding).matchAll(/\{([A-Za-z0-9_.]+)/g)].map(([, path = '']) => path),
  )
}

const patternOf = ({ pattern }: HttpRule): string => {
  if (pattern.case === undefined) return ''
  return pattern.case === 'custom' ? pattern.value.path : pattern.value
}
