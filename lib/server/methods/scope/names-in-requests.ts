import type { DescField, DescMessage, DescMethod, Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../../errors.js'
import { parsePathTemplate, type PathTemplate } from '../../../gateway/routing/path-template.js'
import { type Reader, requiredIn } from '../../../resource/messages/field-readers.js'
import type { NamePattern } from '../../../resource/names/name-pattern.js'
import { type NameSegment, type Pattern, valuesIn, WILDCARD } from '../../../resource/names/pattern.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { valueOf } from '../../chain/method.js'
import { pathsOf } from '../../../resource/messages/http-paths.js'
import type { Held, ScopeField } from './path-scope.js'
import { repositoryKey } from './wire-keys.js'

/** True if `-` may stand for any parent (AIP-159). */
export type Parents = 'one' | 'any'

/** The entity that a name refers to. */
export interface Named {
  readonly key: string
  /** The values that other fields of the entity must have. */
  readonly held: readonly Held[]
}

/**
 * Parses the name of an entity.
 * @param field - the field that contains the name, for the error.
 * @throws InvalidArgument with the expected pattern.
 */
export const namedBy = (name: NamePattern, text: string, parents: Parents, field: string): Named => {
  const values = name.parse(text)
  if (values === undefined) throw mismatched(field, name.pattern)
  const key = values.at(-1) as string
  if (key === WILDCARD)
    throw new InvalidArgument(
      field,
      `"-" does not name a ${name.singular}: it must look like ${name.pattern}`,
    )
  return { key, held: heldBy(name, values.slice(0, -1), parents, field) }
}

/**
 * Returns the values that entities of the parent must have.
 * @throws InvalidArgument with the expected pattern.
 */
export const parentIn = (
  name: NamePattern,
  pattern: Pattern,
  text: string,
  parents: Parents,
  field = 'parent',
): readonly Held[] => {
  const values = valuesIn(pattern, text)
  if (values === undefined) throw mismatched(field, pattern.text)
  return heldBy(name, values, parents, field)
}

const mismatched = (field: string, pattern: string): InvalidArgument =>
  new InvalidArgument(field, `must look like ${pattern}`)

const heldBy = (
  { variables, pattern }: NamePattern,
  values: readonly string[],
  parents: Parents,
  field: string,
): readonly Held[] =>
  values.flatMap((value, at) => {
    const variable = variables[at]
    if (variable === undefined) return []
    if (value !== WILDCARD) return [{ name: variable.field.proto, value }]
    if (parents === 'any') return []
    throw new InvalidArgument(
      field,
      `"-" stands for any ${variable.name}, but this call needs one: ${pattern}`,
    )
  })

/** Returns a reader for the key of the entity that a request names. */
export const keyIn = (
  model: ResourceModel,
  field: DescField,
  name: NamePattern | undefined,
): Reader<string> => {
  const wireOf = requiredIn<string>(field)
  return name === undefined
    ? (request) => repositoryKey(model, wireOf(request))
    : (request) => repositoryKey(model, namedBy(name, wireOf(request), 'any', field.name).key)
}

/** Returns a reader for the key inside the resource of a request. */
export const keyInside = (model: ResourceModel, resource: DescField): Reader<string> => {
  const named = namedInside(model, resource)
  return (inside) => named(inside).key
}

/**
 * Returns a reader that identifies the entity inside a request.
 * @returns a function of the resource, and of the path of the request itself for errors.
 */
export const namedInside = (model: ResourceModel, resource: DescField) => {
  const { name } = model
  const field = keyField(model)
  const textOf = requiredIn<string>(field, `${resource.name}.${field.name}`)
  return (inside: Message, at = ''): Named => {
    const text = textOf(inside)
    if (name === undefined) return { key: repositoryKey(model, text), held: [] }
    const { key, held } = namedBy(name, text, 'one', `${at}${resource.name}.${field.name}`)
    return { key: repositoryKey(model, key), held }
  }
}

const keyField = ({ name, message, key }: ResourceModel): DescField =>
  name?.field ?? ((message as DescMessage).fields.find((one) => one.name === key.proto) as DescField)

/** Returns the scope given by the parts of a name other than the key, in a request or its resource. */
export const nameField = (
  field: DescField,
  name: NamePattern,
  parents: Parents,
  resource?: DescField,
): ScopeField => {
  const at = resource === undefined ? field.name : `${resource.name}.${field.name}`
  return {
    name: field.name,
    own: true,
    in(request) {
      const holder = resource === undefined ? request : (valueOf(request, resource) as Message)
      return namedBy(name, valueOf(holder, field) as string, parents, at).held
    },
  }
}

/** Returns a reader for the entities that a request names in a list. */
export const namedIn = (
  model: ResourceModel,
  request: Message,
  field: DescField,
  name: NamePattern | undefined,
  parents: Parents,
): readonly Named[] =>
  (valueOf(request, field) as string[]).map((text, index) => {
    if (name === undefined) return { key: repositoryKey(model, text), held: [] }
    const { key, held } = namedBy(name, text, parents, `${field.name}[${index}]`)
    return { key: repositoryKey(model, key), held }
  })

/**
 * Checks the `<resource>_id` of a named resource (AIP-122).
 * @throws InvalidArgument with the required format.
 */
export const checkId = (id: string, field: string): void => {
  if (id !== '' && !ID.test(id))
    throw new InvalidArgument(
      field,
      'must be 1 to 63 lower-case letters, digits and "-", beginning with a letter and not ending with "-"',
    )
}

const ID = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Explains why a path of the method cannot contain a name or parent that matches the pattern; undefined if
 * all paths can.
 */
export const nameProblem = (
  method: DescMethod,
  { field, parent, pattern, segments }: NamePattern,
): string | undefined => {
  for (const path of pathsOf(method)) {
    const template = templateOf(path)
    for (const variable of template?.variables ?? []) {
      const bound = template?.segments.slice(variable.from, variable.to) ?? []
      const last = variable.field.split('.').at(-1)
      const expected =
        variable.field === 'parent' ? parent : last === field.name ? { segments, text: pattern } : undefined
      if (expected !== undefined && !canHold(bound, expected.segments))
        return `no ${variable.field} in ${path} looks like ${expected.text}`
    }
  }
  return undefined
}

/** Parses a path; undefined if it is invalid, which the gateway reports. */
const templateOf = (path: string): PathTemplate | undefined => {
  try {
    return parsePathTemplate(path)
  } catch {
    return undefined
  }
}

const canHold = (bound: PathTemplate['segments'], segments: readonly NameSegment[]): boolean => {
  const rest = bound.findIndex(({ kind }) => kind === 'rest')
  const isShort = rest < 0 ? bound.length !== segments.length : rest > segments.length
  return (
    !isShort &&
    bound.every((segment, at) => {
      const expected = segments[at]
      return segment.kind !== 'literal' || (expected?.kind === 'literal' && expected.text === segment.text)
    })
  )
}
