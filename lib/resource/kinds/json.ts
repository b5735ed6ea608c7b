import { freeFormProblem, readFreeForm } from '../free-form/free-form-problem.js'
import type { Shape } from '../free-form/shape.js'
import type {
  Element,
  ElementForm,
  InsideProblem,
  JsonColumn,
  Kind,
  ManagedColumn,
  PropertyForm,
} from './kind.js'
import { Misfit } from './literal.js'
import { ENUM_TYPES, noNumber, textLiteral, textProblem } from './text.js'

const PRIMITIVES = new Set<unknown>([String, Number, BigInt, Boolean, Date])

const ofObjects = {
  isStoredAsText: false,
  isSmall: false,
  hasOrder: true,
  isSortable: false,
  exceeds: () => false,
  isInCursor: () => false,
} as const

/** Plain JSON, for columns without a message type. */
const PLAIN: JsonColumn = {
  encode: (value) => JSON.stringify(value),
  decode: (text) => JSON.parse(text) as unknown,
}

/**
 * A map of strings. Values that other writers stored are read as filters compare them: a number, boolean or
 * object as its JSON string, null as a missing tag. A value that is not an object has no tags.
 */
const TEXTS: JsonColumn = {
  encode: (value) => JSON.stringify(value),
  decode: (text) => {
    const held = JSON.parse(text) as unknown
    if (typeof held !== 'object' || held === null || Array.isArray(held)) return {}
    for (const value of Object.values(held)) if (typeof value !== 'string') return textsOf(held)
    return held
  },
}

const textsOf = (held: object): object =>
  Object.fromEntries(
    Object.entries(held).flatMap(([key, value]) =>
      value === null ? [] : [[key, typeof value === 'string' ? value : JSON.stringify(value)]],
    ),
  )

/** Stores free-form JSON unchanged. */
export const freeForm = (shape: Shape): JsonColumn => ({
  shape,
  encode: (value) => JSON.stringify(value),
  decode: (text) => readFreeForm(text, shape),
})

/**
 * Wraps a conversion for a `simple-array` column, in which TypeORM stores elements as a comma-separated
 * string.
 */
const commas = (json: JsonColumn): JsonColumn => ({
  encode: (value) => (JSON.parse(json.encode(value)) as unknown[]).join(','),
  decode: (text) => json.decode(JSON.stringify(text === '' ? [] : text.split(','))),
})

function commaProblem(list: readonly unknown[]): InsideProblem | string | undefined {
  const at = list.findIndex((element) => typeof element === 'string' && element.includes(','))
  if (at !== -1)
    return { at: `[${at}]`, text: 'contains a comma, which separates the elements in its column' }
  return list.length === 1 && list[0] === ''
    ? 'has one empty element, which its column cannot distinguish from an empty list'
    : undefined
}

/** The types whose values TypeORM itself converts to and from JSON. */
const isJsonType = (type: unknown): boolean => type === 'json' || type === 'jsonb'

/** A JSON column whose elements have one form in the property and another in the message. */
const listColumn = ({ toJson, fromJson }: ElementForm): JsonColumn => ({
  encode: (value) => JSON.stringify((value as readonly unknown[]).map(toJson)),
  decode: (text) =>
    (JSON.parse(text) as readonly unknown[]).map((stored) => {
      const held = stored === null ? undefined : fromJson(stored)
      if (held === undefined) throw new RangeError('an element is not a value of the field')
      return held
    }),
})

/** Converts each element of a list. */
const ofEach = ({ toWire, fromWire }: PropertyForm): PropertyForm => ({
  toWire: (list) => (list as readonly unknown[]).map(toWire),
  fromWire: (list) => (list as readonly unknown[]).map(fromWire),
})

/** Returns the value that a driver accepts for an array. */
const driverArray = (text: string, { kind }: Element): readonly unknown[] => {
  const elements = JSON.parse(text) as readonly unknown[]
  return kind === 'bytes' ? elements.map((one) => Buffer.from(one as string, 'base64')) : elements
}

const driverJson = (read: readonly unknown[]): string =>
  JSON.stringify(read.map((one) => (Buffer.isBuffer(one) ? one.toString('base64') : one)))

/** Reads and writes the same strings through TypeORM's manager as through a repository. */
const MANAGED: ManagedColumn = {
  type: (declared, field) => {
    if (field?.list?.as === 'array') return ENUM_TYPES.has(declared) ? 'varchar' : undefined
    return isJsonType(declared) ? undefined : 'text'
  },
  to: (value, field, type) => {
    const text = field.json?.encode(value)
    if (field.list?.as === 'array') return driverArray(text as string, field.list.element)
    return text !== undefined && isJsonType(type) ? (JSON.parse(text) as unknown) : text
  },
  from: (read, field, type) => {
    if (field.list?.as === 'array' && Array.isArray(read)) return field.json?.decode(driverJson(read))
    const isText =
      typeof read === 'string' && (field.list !== undefined || (!isJsonType(type) && isJson(read)))
    // TypeORM's manager may have written JSON of any shape.
    if (field.json?.shape !== undefined) return isText ? (JSON.parse(read) as unknown) : read
    return field.json?.decode(isText ? read : JSON.stringify(read))
  },
}

/**
 * Returns true if a string is JSON. Drivers parse JSON columns regardless of TypeORM's type, so a string may
 * already be a value.
 */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A repeated or embedded field. */
export const json: Kind = {
  ...ofObjects,
  name: 'json',
  declared: {
    scalars: [],
    columnTypes: ['json', 'jsonb', 'simple-json', 'simple-array'],
    holds: 'arrays and objects',
    family: 'objects',
    classes: [],
    property: (repeated, shape) =>
      repeated || shape === 'array' ? 'an array' : shape === 'object' ? 'an object' : 'an array or an object',
    fits: (type, repeated, shape) => {
      if (shape === 'any') return true
      return repeated || shape === 'array' ? type === Array : isObject(type)
    },
  },
  problem: (value, field) => {
    if (field.json?.shape !== undefined) return problemOfFreeForm(value, field.json.shape)
    if (field.repeated === true && !Array.isArray(value)) return 'must be an array'
    const { list } = field
    const elements = value as readonly unknown[]
    return (
      jsonProblem(value, 0) ??
      list?.problem(elements) ??
      (list?.as === 'commas' ? commaProblem(elements) : undefined)
    )
  },
  zero: ({ repeated }) => (repeated === true ? [] : undefined),
  filler: ({ repeated, list }) => (list?.as === 'commas' ? '' : repeated === true ? '[]' : '{}'),
  increments: noNumber('json'),
  managed: MANAGED,
  unread: ({ list }) =>
    list === undefined
      ? ['JSON', "it is not the field's JSON"]
      : ['a list', 'an element is not a value of its field'],
  mayBeUnread: ({ json, list }) => list !== undefined || json?.shape === 'object' || json?.shape === 'array',
  jsonColumn: (ofMessage, list) => {
    const column = list?.form === undefined ? (ofMessage ?? PLAIN) : listColumn(list.form)
    return list?.as === 'commas' ? commas(column) : column
  },
  form: ({ list }) => list?.form && ofEach(list.form),
  isNested: true,
  literal: () => Misfit.takes('null alone'),
  isText: false,
  hasKeys: false,
}

const problemOfFreeForm = (value: unknown, shape: Shape): string | undefined =>
  freeFormProblem(value, shape) ?? jsonProblem(value, 0)

/** A map<string, string>. */
export const tags: Kind = {
  ...ofObjects,
  name: 'tags',
  declared: {
    scalars: [],
    columnTypes: [],
    holds: 'tags',
    family: 'objects',
    classes: [],
    property: (repeated) => (repeated ? 'an array' : 'Record<string, string>'),
    fits: (type, repeated) => (repeated ? type === Array : isObject(type)),
  },
  problem: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be a map of strings'
    const entries = Object.entries(value)
    if (entries.length > MAX_TAGS) return `has ${entries.length} entries: use at most ${MAX_TAGS}`
    for (const [key, entry] of entries) {
      const problem = textProblem(key) ?? textProblem(entry)
      if (problem !== undefined) return { at: `[${JSON.stringify(key)}]`, text: problem }
    }
    return undefined
  },
  zero: () => ({}),
  filler: () => '{}',
  increments: noNumber('tags'),
  managed: MANAGED,
  jsonColumn: () => TEXTS,
  isNested: false,
  literal: textLiteral,
  isText: false,
  hasKeys: true,
}

const isObject = (type: unknown): boolean => type !== Array && !PRIMITIVES.has(type)

const MAX_TAGS = 256
const MAX_DEPTH = 64

/** Returns the problem with a JSON value. All strings in it must be storable in a text column. */
function jsonProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return textProblem(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return 'contains a number that is not finite'
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Uint8Array)
    return undefined
  if (depth >= MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
  for (const [key, element] of Object.entries(value)) {
    const problem = textProblem(key) ?? jsonProblem(element, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}
