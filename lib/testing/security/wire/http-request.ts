import {
  type DescField,
  type DescMethod,
  getOption,
  hasOption,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from '@bufbuild/protobuf'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import type { HttpRule } from 'ashlar-annotations/google/api/http_pb.js'

/** A request in the form that the gateway accepts. */
export interface HttpRequestForm {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

/** Returns the path template of a method's HTTP rule; undefined if there is none. */
export const pathTemplateOf = (desc: DescMethod): string | undefined => {
  if (!hasOption(desc, http)) return undefined
  const { pattern } = getOption(desc, http)
  if (pattern.case === undefined) return undefined
  return pattern.case === 'custom' ? pattern.value.path : pattern.value
}

/**
 * Returns the pattern for the value of a bound field: `shelves/*` in `{parent=shelves/*}`, `*` without a
 * pattern.
 */
export const boundPattern = (desc: DescMethod, path: string): string | undefined => {
  for (const [, field, pattern = '*'] of (pathTemplateOf(desc) ?? '').matchAll(VARIABLE))
    if (field === path) return pattern
  return undefined
}

/** Returns the request of the first HTTP binding; undefined if it cannot express the message. */
export const httpRequestOf = (desc: DescMethod, request: Message): HttpRequestForm | undefined => {
  const template = pathTemplateOf(desc)
  if (template === undefined) return undefined
  const rule = getOption(desc, http)
  const rest = jsonOf(desc, request)
  if (rest === undefined) return undefined
  const path = fill(template, rest)
  if (path === undefined) return undefined
  const method = methodOf(rule)
  if (rule.body === '*') return { method, path, body: JSON.stringify(rest) }
  const body = rule.body === '' ? undefined : JSON.stringify(take(rest, rule.body) ?? {})
  const query = queryOf(rest, desc.input.fields)
  return { method, path: query === '' ? path : `${path}?${query}`, body }
}

const VARIABLE = /\{([\w.]+)(?:=([^}]*))?\}/g

const methodOf = ({ pattern }: HttpRule): string =>
  pattern.case === 'custom' ? pattern.value.kind : (pattern.case ?? 'get').toUpperCase()

const jsonOf = (desc: DescMethod, request: Message): JsonObject | undefined => {
  try {
    return toJson(desc.input, request, { useProtoFieldName: true }) as JsonObject
  } catch {
    return undefined // for example NaN or an invalid Timestamp, which has no JSON
  }
}

/** Fills the path, and removes the fields in it from the message. */
const fill = (template: string, rest: JsonObject): string | undefined => {
  const missing: string[] = []
  const path = template.replaceAll(VARIABLE, (_, field: string, pattern = '*') => {
    const value = take(rest, field)
    if (value === undefined || value === '' || typeof value === 'object') {
      missing.push(field)
      return ''
    }
    const text = String(value)
    return pattern === '*' ? encodeURIComponent(text) : text.split('/').map(encodeURIComponent).join('/')
  })
  return missing.length === 0 ? path : undefined
}

const take = (json: JsonObject, path: string): JsonValue | undefined => {
  const [name = '', ...deeper] = path.split('.')
  const value = json[name]
  if (deeper.length > 0) return isObject(value) ? take(value, deeper.join('.')) : undefined
  Reflect.deleteProperty(json, name)
  return value
}

/**
 * Returns the query: scalars, lists and nested messages as parameters, and masks as the gateway expects them.
 */
const queryOf = (rest: JsonObject, fields: readonly DescField[]): string => {
  const query = new URLSearchParams()
  const add = (name: string, value: JsonValue): void => {
    if (Array.isArray(value)) value.forEach((one) => add(name, one))
    else if (isObject(value))
      Object.entries(value).forEach(([key, one]) => add(`${name}.${key}`, one as JsonValue))
    else if (value !== null) query.append(name, String(value))
  }
  for (const [name, value] of Object.entries(rest)) {
    const field = fields.find((one) => one.name === name)
    const isMask = field?.message?.typeName === 'google.protobuf.FieldMask'
    if (!isMask) add(name, value as JsonValue)
    else if (name === 'update_mask') snakePaths(value as string).forEach((path) => query.append(name, path))
    else query.append(name, snakePaths(value as string).join(','))
  }
  return query.toString()
}

const snakePaths = (paths: string): readonly string[] =>
  paths.split(',').map((path) => path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
