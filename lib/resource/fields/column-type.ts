import type { ColumnOptions } from 'typeorm'
import type { FieldKind } from './field.js'
import { kindOfColumn, storableTypes } from './field-kind.js'

/** The refusal of a column whose type cannot be stored, whatever the message says about the field. */
export const unstorableType = (type: unknown): string =>
  `has the column type ${describeType(type)}, which cannot be stored: ${adviceFor(type)}; supported are ${storableTypes()}`

export const describeType = (type: unknown): string => (typeof type === 'function' ? type.name : String(type))

const ADVICE: Readonly<Record<string, string>> = {
  Object: 'spell a type',
  Array: `write @Column('simple-json')`,
  uuid: 'leave it out, because a key is text',
  enum: 'leave it out, because an enum of the message is stored by its proto names',
  'simple-enum': 'leave it out, because an enum of the message is stored by its proto names',
  decimal: 'keep an exact amount as a bigint of its smallest unit',
  numeric: 'keep an exact amount as a bigint of its smallest unit',
  date: 'keep a date as text, or as a timestamp',
}

const adviceFor = (type: unknown): string => {
  const name = describeType(type)
  return Object.hasOwn(ADVICE, name) ? (ADVICE[name] as string) : 'use another'
}

const FAMILY: Readonly<Record<FieldKind, string>> = {
  string: 'text',
  enum: 'text',
  int32: 'integers',
  uint32: 'integers',
  int64: 'integers',
  uint64: 'integers',
  duration: 'integers',
  float: 'fractions',
  double: 'fractions',
  bool: 'booleans',
  timestamp: 'times',
  bytes: 'bytes',
  json: 'objects',
  tags: 'objects',
}

/** Where the type options of a column contradict its field. */
export function* typeProblems(
  property: string,
  { type, length, unsigned, precision }: ColumnOptions,
  kind: FieldKind,
): Generator<string> {
  const declared = typeof type === 'string' ? kindOfColumn(type, undefined) : undefined
  if (declared !== undefined && !holds(declared, type, kind))
    yield `${property} is ${kind}: the column type ${describeType(type)} holds ${FAMILY[declared]}; leave it out, or use one for ${FAMILY[kind]}`
  const hasLength = kind === 'enum' || (kind === 'string' && !UNBOUNDED.has(type))
  if (isSaid(length) && !hasLength)
    yield `${property}: the column option length is not supported: ${kind === 'string' ? `${describeType(type)} has none; use varchar` : `drop it, ${kind} has none`}`
  if (isSaid(length) && hasLength && !/^[1-9]\d*$/.test(String(length)))
    yield `${property}: the column option length is ${JSON.stringify(length)}: give the number of characters`
  if (unsigned === true && !kind.startsWith('uint'))
    yield `${property}: the column option unsigned is not supported: drop it, or make the field uint32 or uint64 in the message`
  if (isSaid(precision) && !(kind === 'timestamp' && precision === MICROSECONDS))
    yield `${property}: the column option precision is not supported: drop it${kind === 'timestamp' ? ', a time has microseconds' : ''}`
}

/** Text may hold bytes, because TypeORM has no byte type for every database; MySQL has no boolean of its own. */
const holds = (declared: FieldKind, type: unknown, kind: FieldKind): boolean =>
  FAMILY[declared] === FAMILY[kind] ||
  (kind === 'bytes' && FAMILY[declared] === 'text') ||
  (kind === 'bool' && type === 'tinyint')

const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

const MICROSECONDS = 6
const UNBOUNDED = new Set<unknown>(['text', 'mediumtext', 'longtext'])

const DEFAULT_LENGTH = 255

/** The most characters of a text column; undefined when it is unlimited. */
export function maxLengthOf({ type, length }: ColumnOptions): number | undefined {
  if (UNBOUNDED.has(type)) return undefined
  return isSaid(length) ? Number(length) : DEFAULT_LENGTH
}
