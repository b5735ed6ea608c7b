import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type Message,
  getOption,
  toJson,
} from '@bufbuild/protobuf'
import { base64Encode } from '@bufbuild/protobuf/wire'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import type { HttpRule } from 'ashlar-annotations/google/api/http_pb.js'

/** A call as a REST client writes it. */
export interface SpelledCall {
  readonly method: string
  readonly path: string
  /** JSON; undefined for no body at all. */
  readonly body: string | undefined
  /** The one field that is answered, by its name in the .proto; empty for the whole message. */
  readonly responseBody: string
}

/** What no HTTP request can say of a message. */
class Inexpressible extends Error {}

/**
 * Writes a request message as HTTP, from the rules of `google.api.http` alone: nothing of the gateway's own
 * code is asked. Undefined for a message that has no such form, such as one with an empty id.
 */
export function spellHttp(
  method: DescMethod,
  binding: number,
  message: Message,
  protoNames: boolean,
): SpelledCall | undefined {
  const main = getOption(method, http)
  const rules = [main, ...main.additionalBindings]
  const rule = rules[binding % rules.length] as HttpRule
  try {
    return spell(rule, reflect(method.input, message), protoNames)
  } catch (error) {
    if (error instanceof Inexpressible) return undefined
    throw error
  }
}

function spell(rule: HttpRule, request: ReflectMessage, protoNames: boolean): SpelledCall {
  const template = rule.pattern.value as string
  const inPath = new Set<string>()
  const path = template.replace(/\{([\w.]+)(?:=([^}]+))?\}/g, (_, name: string, pattern = '*') => {
    inPath.add(name)
    return segments(textAt(request, name), pattern as string)
  })
  const query: string[] = []
  for (const field of request.fields) {
    if (field.name === rule.body || rule.body === '*') continue
    if (request.isSet(field)) query.push(...parameters(field, request, '', inPath, protoNames))
  }
  return {
    method: String(rule.pattern.case).toUpperCase(),
    path: query.length === 0 ? path : `${path}?${query.join('&')}`,
    body: bodyOf(rule, request, protoNames),
    responseBody: rule.responseBody,
  }
}

/** The value of a dotted path of singular fields. */
function textAt(request: ReflectMessage, name: string): string {
  const [head = '', ...rest] = name.split('.')
  const field = request.fields.find((each) => each.name === head) as DescField
  if (rest.length === 0) return String(request.get(field))
  if (!request.isSet(field)) throw new Inexpressible()
  return textAt(request.get(field) as ReflectMessage, rest.join('.'))
}

function segments(value: string, pattern: string): string {
  const shape = pattern.replace(/\*\*|\*/g, (star) => (star === '*' ? '[^/]+' : '.+'))
  const isSingle = pattern === '*'
  if (value === '' || (!isSingle && !new RegExp(`^${shape}$`, 's').test(value))) throw new Inexpressible()
  return isSingle ? escape(value) : value.split('/').map(escape).join('/')
}

/** Dots alone would be resolved by any client on the way. */
const escape = (segment: string): string =>
  encodeURIComponent(segment).replace(/^\.{1,2}$/, (dots) => dots.replaceAll('.', '%2E'))

function bodyOf(rule: HttpRule, request: ReflectMessage, protoNames: boolean): string | undefined {
  if (rule.body === '') return undefined
  const field = request.fields.find(({ name }) => name === rule.body)
  if (field === undefined) return json(request.desc, request.message, protoNames)
  if (!request.isSet(field)) return undefined
  const value = request.get(field) as ReflectMessage
  return json(value.desc, value.message, protoNames)
}

function json(desc: DescMessage, message: Message, useProtoFieldName: boolean): string {
  const value = toJson(desc, message, { useProtoFieldName })
  // JSON.stringify forgets the sign of zero.
  return JSON.stringify(value, (_, each: unknown) => (Object.is(each, -0) ? '-0' : each))
}

function parameters(
  field: DescField,
  holder: ReflectMessage,
  prefix: string,
  inPath: ReadonlySet<string>,
  protoNames: boolean,
): string[] {
  if (inPath.has(`${prefix}${field.name}`)) return []
  const name = `${prefix}${protoNames ? field.name : field.jsonName}`
  const pair = (key: string, value: string) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`
  switch (field.fieldKind) {
    case 'scalar':
      return [pair(name, scalar(holder.get(field)))]
    case 'enum':
      return [pair(name, enumText(field, Number(holder.get(field))))]
    case 'list':
      if (field.listKind === 'message') throw new Inexpressible()
      return [...holder.get(field)].map((each) => pair(name, scalar(each)))
    case 'map':
      return [...holder.get(field)].map(([key, value]) => pair(`${name}[${String(key)}]`, scalar(value)))
    case 'message':
      return nested(field, holder.get(field), name, pair, inPath, protoNames)
  }
}

function nested(
  field: DescField & { readonly message: DescMessage },
  value: ReflectMessage,
  name: string,
  pair: (key: string, value: string) => string,
  inPath: ReadonlySet<string>,
  protoNames: boolean,
): string[] {
  const { typeName } = field.message
  if (typeName === 'google.protobuf.FieldMask') {
    const { paths } = value.message as Message & { readonly paths: readonly string[] }
    if (paths.length === 0) throw new Inexpressible()
    return [pair(name, paths.join(','))]
  }
  if (typeName.startsWith('google.protobuf.')) return [pair(name, String(toJson(value.desc, value.message)))]
  const inside = value.fields
    .filter((each) => value.isSet(each))
    .flatMap((each) => parameters(each, value, `${name}.`, inPath, protoNames))
  // A message that is there and empty has no parameter to show for it.
  if (inside.length === 0) throw new Inexpressible()
  return inside
}

const enumText = (field: DescField & { fieldKind: 'enum' }, number: number): string =>
  field.enum.values.find((each) => each.number === number)?.name ?? String(number)

const scalar = (value: unknown): string => {
  if (value instanceof Uint8Array) return base64Encode(value, 'url')
  return Object.is(value, -0) ? '-0' : String(value)
}
