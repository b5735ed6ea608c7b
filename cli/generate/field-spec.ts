import { nearestNames } from '../../lib/text/nearest-names.js'
import { Failure } from '../errors/failure.js'
import { FIELD_TYPES, type FieldType, KEY_TYPES, type KeyType } from './field-types.js'
import { pascalOf } from './words.js'

/** A field in `--fields`. */
export interface FieldSpec {
  /** The name in the .proto, such as `due_time`. */
  readonly name: string
  readonly type: FieldType
  /** The values of an enum without the unspecified value; empty for other types. */
  readonly values: readonly string[]
  readonly presence: 'plain' | 'required' | 'optional'
}

const TYPES = [...Object.keys(FIELD_TYPES), 'enum']
const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
const VALUE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/
/**
 * Names that every resource already has, or that have a special meaning in the framework or in generated
 * code.
 */
const TAKEN = new Set([
  ...['name', 'etag', 'create_time', 'update_time', 'delete_time', 'expire_time', 'account_id', 'parent'],
  ...['constructor', 'to_string', 'to_json', 'value_of'],
])

/**
 * Parses `--fields`.
 * @throws {Failure} with the field, the problem and advice.
 */
export function parseFields(text: string): readonly FieldSpec[] {
  const parts = partsOf(text).filter((part) => !KEY.test(part))
  if (parts.length > 200) throw new Failure('input', '--fields has more than 200 fields')
  const fields = parts.map(parseField)
  const names = fields.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Failure('input', `--fields names ${twice} twice: name it once`)
  return fields
}

/**
 * Returns the type of `id`; undefined if `--fields` does not state it.
 * @throws {Failure} for a type that cannot be a key.
 */
export function parseKey(text: string): KeyType | undefined {
  const [spec, another] = partsOf(text).filter((part) => KEY.test(part))
  if (spec === undefined) return undefined
  if (another !== undefined) throw new Failure('input', '--fields names id twice: name it once')
  const type = Object.entries(KEY_TYPES).find(([name]) => spec === `id:${name}`)?.[1]
  if (type !== undefined) return type
  throw new Failure(
    'input',
    `--fields ${spec}: the type of a key must be one of ${Object.keys(KEY_TYPES).join(', ')}`,
  )
}

const KEY = /^id(:|$)/

const partsOf = (text: string): readonly string[] => text.match(/(?:[^\s(]|\([^)]*\)?)+/g) ?? []

function parseField(spec: string): FieldSpec {
  const wrong = (what: string) => new Failure('input', `--fields ${spec}: ${what}`)
  const [, name, type, list, mark = ''] = /^([^:]*):([^(!?]*)(\([^)]*\))?([!?]?)$/.exec(spec) ?? []
  if (name === undefined || type === undefined)
    throw wrong(
      'write it as name:type, name:type! if a client must send it, or name:type? if it may be absent',
    )
  if (!NAME.test(name))
    throw wrong(
      `the name ${name === '' ? 'is missing' : name}: write lower-case words joined by _, such as due_time`,
    )
  if (TAKEN.has(name))
    throw wrong(`${name} is reserved: every resource has it, or it has another meaning; choose another name`)
  if (!TYPES.includes(type)) {
    const [near] = nearestNames(type, TYPES)
    throw wrong(
      `${type === '' ? 'the type is missing' : `there is no type ${type}`}: write one of ${TYPES.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
    )
  }
  const presence = mark === '!' ? 'required' : mark === '?' ? 'optional' : 'plain'
  if (type === 'enum') return enumField(name, list, presence, wrong)
  if (list !== undefined) throw wrong(`only an enum has values in parentheses`)
  const known = FIELD_TYPES[type] as FieldType
  if (presence === 'required' && !known.canBeRequired)
    throw wrong(
      `its default is 0 or false, so it is never missing: write ${name}:${type}, or ${name}:${type}? if it may be absent`,
    )
  if (presence === 'optional' && known.isList === true)
    throw wrong(`a list may be empty but is never absent: write ${name}:${type}`)
  if (presence === 'plain' && known.needsPresence === true)
    throw wrong(`a ${type} has no empty value: write ${name}:${type}! or ${name}:${type}?`)
  return { name, type: known, values: [], presence }
}

function enumField(
  name: string,
  list: string | undefined,
  presence: FieldSpec['presence'],
  wrong: (what: string) => Failure,
): FieldSpec {
  const values = (list ?? '')
    .slice(1, -1)
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
  if (values.length === 0) throw wrong(`the values are missing: write ${name}:enum(OPEN,DONE)`)
  for (const value of values) {
    if (!VALUE.test(value))
      throw wrong(`the value ${value}: write capital letters, digits and _, such as IN_REVIEW`)
    if (value === unspecifiedOf(name))
      throw wrong(`${value} exists in every enum, for the unset value: leave it out`)
  }
  const twice = values.find((value, index) => values.indexOf(value) !== index)
  if (twice !== undefined) throw wrong(`${twice} is listed twice`)
  const type: FieldType = {
    proto: pascalOf(name),
    property: pascalOf(name),
    column: 'type: String',
    sample: () => `'${values[0] ?? ''}'`,
    canBeRequired: true,
  }
  return { name, type, values, presence }
}

/** Returns the name of an enum's value 0 (AIP-126). */
export const unspecifiedOf = (field: string): string => `${field.toUpperCase()}_UNSPECIFIED`
