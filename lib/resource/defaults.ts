import { type Problem, propertyProblem } from '../errors.js'
import { decimalOf, decimalText } from './kinds/fractions.js'
import { heldOf, kindOf } from './kinds/kinds.js'
import { checkValue } from './values/check-value.js'
import type { Field, FieldDefault, Role } from './fields/field.js'

/** The roles whose values only the server sets. */
const SET_BY_SERVER: ReadonlySet<Role> = new Set([
  'key',
  'tenant',
  'etag',
  'version',
  'createTime',
  'updateTime',
  'deleteTime',
  'expireTime',
])

/**
 * Returns the default in `@Column({ default })` or `@Default()`, or the reason why it is invalid.
 * @param constant - undefined and null mean no default. A function is SQL for the table and no default of the
 *   entity.
 */
export function defaultOf(
  field: Field,
  constant: unknown,
  make: (() => unknown) | undefined,
): FieldDefault | Problem | undefined {
  const isConstant = constant !== undefined && constant !== null && typeof constant !== 'function'
  if (!isConstant && make === undefined) return undefined
  const { property, role } = field
  if (make !== undefined && (constant ?? undefined) !== undefined)
    return propertyProblem(
      'default',
      property,
      `${property} has a default in @Column() and another in @Default()`,
      'keep one',
    )
  if (SET_BY_SERVER.has(role))
    return propertyProblem(
      'default',
      property,
      `${property} has a default, but the server sets it`,
      `drop the default${role === 'key' ? ', and pass the option newKey to the repository' : ''}`,
    )
  if (make !== undefined) {
    if (typeof make !== 'function')
      return propertyProblem(
        'default',
        property,
        `${property}: @Default() takes a function`,
        'write @Default(() => value), or @Column({ default: value })',
      )
    return { constant: undefined, make: () => made(field, make) }
  }
  const value = asHeld(field, constant)
  const problem = problemOf(field, value)
  if (problem !== undefined)
    return propertyProblem('default', property, `${property}: the default ${problem}`)
  return {
    constant: value,
    make: () => (typeof value === 'object' ? structuredClone(value) : value),
  }
}

/**
 * Converts a default in a database's format, which TypeORM also accepts, such as `default: '0'` for a number.
 */
function asHeld(field: Field, constant: unknown): unknown {
  const { family, fits, holds } = kindOf(field).declared
  // PostgreSQL's form of an empty array.
  if (constant === '{}' && field.list?.as === 'array') return []
  if (field.decimal !== undefined && (typeof constant === 'string' || typeof constant === 'number'))
    return decimalOf(decimalText(constant, field), field) ?? constant
  if (family !== 'integers' || holds !== 'bigint') {
    if (typeof constant !== 'string') {
      const isOfText = kindOf(field).name === 'string' && typeof constant !== 'object'
      if (isOfText) return String(constant as number)
      return family === 'booleans' ? (BOOLEANS.get(constant) ?? constant) : constant
    }
    if (family === 'integers' || family === 'fractions')
      return NUMBER.test(constant) ? Number(constant) : constant
    if (family === 'booleans') return BOOLEANS.get(constant.toLowerCase()) ?? constant
    if (family === 'times' && fits(Date, false)) return heldOf(timeOf(constant), field) ?? constant
    return family === 'objects' ? (parsed(constant) ?? constant) : constant
  }
  const isInteger =
    typeof constant === 'string' ? /^-?\d{1,20}$/.test(constant) : Number.isSafeInteger(constant)
  if (!isInteger) return constant
  if (field.inProperty === 'number') return Number(constant)
  return field.hasDigits === true ? String(constant) : BigInt(constant as string | number)
}

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...([1, '1', 'true', 't'] as const).map((text): [unknown, boolean] => [text, true]),
  ...([0, '0', 'false', 'f'] as const).map((text): [unknown, boolean] => [text, false]),
])

/** Parses a time. A time without a zone is UTC. */
function timeOf(text: string): Date | undefined {
  const [, day, time = '00:00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?(Z|[+-]\d{2}:?\d{2})?$/.exec(text) ?? []
  const read = new Date(`${day}T${time}${zone}`)
  return Number.isNaN(read.getTime()) ? undefined : read
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function made(field: Field, make: () => unknown): unknown {
  const value = make() ?? undefined
  const problem = problemOf(field, value)
  if (problem === undefined) return value
  throw new TypeError(`@Default() of ${field.property} ${problem}`)
}

function problemOf(field: Field, value: unknown): string | undefined {
  try {
    checkValue(field, value)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^.*?: /, '') : String(error)
  }
}

/** Returns the problem of a `@Default()` on a property that cannot have one. */
export const strayDefault = (property: string, role: string | undefined): Problem =>
  role === 'secret' || role === 'credential' || role === 'computed'
    ? propertyProblem(
        'default',
        property,
        `${property} has a default, but a ${role === 'computed' ? 'computed field' : role} cannot have one`,
        'drop @Default()',
      )
    : propertyProblem('default', property, `${property} has a @Default() but no column`, 'add @Column()')

/** Returns true if the value is the zero value of a proto3 field. */
export const isZero = (value: unknown): boolean => {
  if (value === '' || value === 0 || value === false || value === 0n) return true
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length === 0
  return value instanceof Object && !(value instanceof Date) && Object.keys(value).length === 0
}

/** Returns the reasons why a field cannot have `@Generated('uuid')`. */
export function* generatedProblems(field: Field): Generator<Problem> {
  const { property, kind, maxLength } = field
  const { key } = kindOf(field)
  if (key?.takesUuid(field) === true) return
  if (key !== undefined && maxLength !== undefined)
    yield propertyProblem(
      'column',
      property,
      `${property} has at most ${maxLength} characters, but a UUID has 36`,
      'make the column longer',
    )
  else
    yield propertyProblem(
      'column',
      property,
      `${property} is ${kind}, but a generated UUID is a string`,
      'declare it as one',
    )
}

const SET_BY_TABLE: ReadonlySet<Role> = new Set(['outputOnly', 'createTime', 'updateTime'])

/** Returns the reasons why a table cannot generate a field's value. */
export function* tableSetProblems({ property, role, generated }: Field): Generator<Problem> {
  if (generated === true && !SET_BY_TABLE.has(role))
    yield propertyProblem(
      'decorator',
      property,
      `${property} is declared as generated, but it is ${role === 'key' ? 'the key' : `the ${role}`}`,
      'drop generated',
    )
}

/** Returns the reasons why a field cannot be a number that the database generates. */
export function* identityProblems({ property, kind, role }: Field): Generator<Problem> {
  const { declared, key } = kindOf({ kind })
  if (role !== 'key')
    yield propertyProblem(
      'column',
      property,
      `${property} is a number that the database generates, but not a key`,
      'add @Internal(), so that Ashlar does not manage it; a number that the database generates for a field is the key of its row',
    )
  else if (key === undefined || declared.family !== 'integers')
    yield propertyProblem(
      'column',
      property,
      `${property} is ${kind}, but a number that the database generates is an integer`,
      `write @PrimaryGeneratedColumn() ${property}!: number, or @PrimaryGeneratedColumn('uuid') ${property}!: string`,
    )
}

/** Returns the problem of a `@Generated()` on a property without a suitable column. */
export const strayGenerated = (property: string, isNumber = false): Problem =>
  propertyProblem(
    'column',
    property,
    `${property}: @Generated() is not on a column`,
    isNumber ? 'write @PrimaryGeneratedColumn() instead' : "add @Column('uuid')",
  )
