import type { JsonObject } from '../source/source.js'
import { words } from '../source/markdown.js'
import type { MessageSchemas } from './message-schemas.js'
import type { View } from './views.js'

interface Known {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly not?: Known
  readonly anyOf?: readonly Known[]
  readonly properties?: Readonly<Record<string, Known>>
  readonly required?: readonly string[]
  readonly items?: Known
  readonly additionalProperties?: Known | boolean
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly propertyNames?: Known
  readonly minProperties?: number
  readonly pattern?: string
  readonly 'x-oneof'?: readonly (readonly string[])[]
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T10:00:00Z',
  byte: 'QXNobGFy',
  int64: '1',
  uint64: '1',
  email: 'name@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': '/',
  'field-mask': 'displayName',
  uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
}

/** Generates example values that a schema accepts, from its types and field names, never from data. */
export class Examples {
  readonly #schemas: MessageSchemas

  constructor(schemas: MessageSchemas) {
    this.#schemas = schemas
  }

  /**
   * Returns an example; undefined if there is none. Secrets are omitted, and so are fields that the other
   * side sets.
   */
  of(schema: JsonObject, view: View): unknown {
    return this.#value(schema as Known, '', view === 'input' || view === 'patch', new Set())
  }

  #value(schema: Known, name: string, isInput: boolean, on: ReadonlySet<string>): unknown {
    if (schema.$ref !== undefined) {
      if (on.has(schema.$ref)) return undefined
      const target = this.#schemas.behind(schema.$ref) as Known | undefined
      const { $ref, ...own } = schema
      return target && this.#value({ ...target, ...own }, name, isInput, new Set([...on, $ref]))
    }
    if (schema.anyOf !== undefined) {
      const { anyOf, ...own } = schema
      return this.#value({ ...anyOf[0], ...own }, name, isInput, on)
    }
    if ('const' in schema) return schema.const
    const { not } = schema
    if (not !== undefined && (not.enum === undefined || schema.enum === undefined)) return undefined
    if (schema.enum !== undefined) {
      const allowed = schema.enum.filter((one) => not?.enum?.includes(one) !== true)
      return allowed.find((one) => !String(one).endsWith('_UNSPECIFIED')) ?? allowed[0]
    }
    switch (typeof schema.type === 'object' ? schema.type[0] : schema.type) {
      case 'object':
        return this.#object(schema, isInput, on)
      case 'array':
        return this.#list(schema, name, isInput, on)
      case 'string':
        return textOf(schema, name)
      case 'boolean':
        return false
      case 'integer':
      case 'number':
        return numberOf(schema)
      case 'null':
        return null
      default:
        return schema.type === undefined ? {} : undefined
    }
  }

  #object(schema: Known, isInput: boolean, on: ReadonlySet<string>): unknown {
    const { properties = {}, required = [], additionalProperties, minProperties = 0 } = schema
    // A google.protobuf.Any may be empty, but its type is not known here.
    if (properties['@type']?.type !== undefined) return required.length === 0 ? {} : undefined
    const entries: [string, unknown][] = []
    const others = new Set(schema['x-oneof']?.flatMap(([, ...rest]) => rest))
    for (const [name, property] of Object.entries(properties)) {
      if (others.has(name)) continue
      if (property.writeOnly === true && (!isInput || !required.includes(name))) continue
      // The etag of a request is a precondition that an example cannot fulfil.
      if (isInput && (property.readOnly === true || (name === 'etag' && !required.includes(name)))) continue
      const value = this.#value(property, name, isInput, on)
      if (value !== undefined) entries.push([name, value])
      else if (required.includes(name)) return undefined
    }
    const key = keyOf(schema.propertyNames)
    if (typeof additionalProperties === 'object' && minProperties <= 1 && key !== undefined) {
      const value = this.#value(additionalProperties, 'value', isInput, on)
      if (value !== undefined) entries.push([key, value])
    }
    return entries.length < minProperties ? undefined : Object.fromEntries(entries)
  }

  #list(
    { items = {}, minItems = 0 }: Known,
    name: string,
    isInput: boolean,
    on: ReadonlySet<string>,
  ): unknown {
    const item = this.#value(items, name.replace(/s$/, ''), isInput, on)
    if (minItems > 1) return undefined
    return item === undefined ? (minItems === 0 ? [] : undefined) : [item]
  }
}

/** Returns an example key of a map; undefined if rules restrict the keys. */
function keyOf(names: Known | undefined): string | undefined {
  if (names === undefined) return 'key'
  if (names.enum !== undefined) return String(names.enum[0])
  return names.pattern?.endsWith('(0|[1-9][0-9]*)$') === true ? '1' : undefined
}

function textOf(
  { format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Known,
  name: string,
): string | undefined {
  const fixed = format === undefined ? undefined : FORMATS[format]
  if (fixed !== undefined) return fits(fixed, minLength, maxLength) ? fixed : undefined
  if (pattern !== undefined)
    return pattern.endsWith('s$') && pattern.startsWith('^-?[0-9]') ? '1.5s' : undefined
  const text = /token$/i.test(name) ? '' : words(name).toLowerCase().slice(0, maxLength)
  const padded = text.length >= minLength ? text : text.padEnd(minLength, 'x')
  return fits(padded, minLength, maxLength) ? padded : undefined
}

const fits = (text: string, least: number, most: number): boolean =>
  text.length >= least && text.length <= most

function numberOf({ minimum, exclusiveMinimum, maximum, ...rest }: Known): number | undefined {
  const least = minimum ?? (exclusiveMinimum === undefined ? 1 : Math.floor(exclusiveMinimum) + 1)
  const one = Math.max(1, least)
  const top = maximum ?? ('exclusiveMaximum' in rest ? Number(rest.exclusiveMaximum) - 1 : one)
  const value = Math.min(one, top)
  return value >= (minimum ?? value) ? value : undefined
}
