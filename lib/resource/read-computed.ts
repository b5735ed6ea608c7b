import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { getMetadataArgsStorage } from 'typeorm'
import { isAsyncFunction, isGeneratorFunction } from 'node:util/types'
import { type EntityFacts, lineage } from '../../decorators/entity-facts.js'
import { Internal, type Problem, propertyProblem } from '../errors.js'
import { withoutValues } from '../faults/driver-fault.js'
import { isInstance } from '../faults/readable.js'
import { isThenable } from '../thenable.js'
import { misspelt } from '../text/misspelt.js'
import { behaves } from './behavior/field-behavior.js'
import { describeType } from './fields/column-type.js'
import { expectedType, kindOfColumn, kindOfMessageField } from './kinds/declared-kind.js'
import { enumNamesOf } from './enums/enum-names.js'
import { double } from './kinds/fractions.js'
import { json } from './kinds/json.js'
import type { KindName } from './kinds/kind.js'
import type { ComputedField, ValueField } from './fields/field.js'
import type { EntityClass } from './resource-model.js'
import type { FieldNames } from './fields/proto-names.js'
import { checkValue } from './values/check-value.js'
import { zeroOf } from './values/conversions.js'

interface ComputedReading {
  readonly computed: readonly ComputedField[]
  readonly problems: readonly Problem[]
}

const NONE: ComputedReading = { computed: [], problems: [] }

/** Returns the properties that `@Computed()` declares, and the problems of invalid ones. */
export function readComputed(
  entity: EntityClass<object>,
  facts: EntityFacts,
  message: DescMessage | undefined,
  { inMessage: fieldOf, protoOf }: FieldNames,
  /** The field that contains the resource's name. */
  nameField: DescField | undefined,
): ComputedReading {
  const declared = [...facts.properties].filter(([, { role }]) => role === 'computed')
  if (declared.length === 0) return NONE
  const classes = new Set<unknown>(lineage(entity))
  const stored = new Set(
    getMetadataArgsStorage()
      .columns.filter(({ target }) => classes.has(target))
      .map(({ propertyName }) => propertyName),
  )
  const hidden = [...facts.properties].flatMap(([property, { role }]) =>
    role === 'secret' || role === 'credential' ? [property] : [],
  )
  const computed: ComputedField[] = []
  const problems: Problem[] = []
  for (const [property, { compute }] of declared) {
    const designType: unknown = Reflect.getMetadata('design:type', entity.prototype as object, property)
    const inMessage = fieldOf.get(property)
    const field = valueField(property, protoOf(property), inMessage, designType)
    const problem =
      (nameField !== undefined && inMessage === nameField
        ? "is @Computed() and the resource's name, which its pattern computes: remove @Computed()"
        : undefined) ??
      misplaced(entity, property, stored) ??
      functionProblem(compute) ??
      messageProblem(property, protoOf(property), message, inMessage) ??
      (typeof field === 'string' ? field : undefined)
    if (problem !== undefined || typeof field === 'string')
      problems.push(propertyProblem('computed', property, `${property} ${problem ?? ''}`))
    else {
      const exposed = inMessage !== undefined || message === undefined
      const valueOf = valueOn(entity, field, compute as (of: object) => unknown, hidden, () => computed)
      computed.push(Object.freeze({ ...field, exposed, valueOf }))
    }
  }
  return { computed, problems }
}

/** Returns a function that creates entities whose `@Computed()` properties compute their values. */
export function computing<E extends object>(
  entity: EntityClass<E>,
  computed: readonly ComputedField[],
): () => E {
  if (computed.length === 0) return () => new entity()
  const accessors = accessorsOf(entity, computed)
  // Defined on the instance, because a property that the class declares would hide one of the prototype.
  return () => Object.defineProperties(new entity(), accessors)
}

const accessors = new WeakMap<readonly ComputedField[], PropertyDescriptorMap>()

function accessorsOf({ name }: { name: string }, computed: readonly ComputedField[]): PropertyDescriptorMap {
  const known = accessors.get(computed)
  if (known !== undefined) return known
  const made: PropertyDescriptorMap = {}
  for (const { property, valueOf } of computed)
    made[property] = {
      configurable: true,
      enumerable: true,
      get(this: object) {
        return valueOf(this)
      },
      set() {
        throw new TypeError(`${property} of ${name} is computed: change what its function reads`)
      },
    }
  accessors.set(computed, made)
  return made
}

/** Property names that are reserved for the framework's columns. */
const RESERVED: ReadonlySet<string> = new Set(['accountId', 'deleteTime', 'expireTime'])

function misplaced(
  entity: EntityClass<object>,
  property: string,
  stored: ReadonlySet<string>,
): string | undefined {
  if (RESERVED.has(property))
    return 'is @Computed(), but the framework stores it: give the field another name'
  if (stored.has(property)) return 'is @Computed() and has a column: keep one of the two'
  const own = lineage(entity)
    .map((one) => Object.getOwnPropertyDescriptor((one as EntityClass<object>).prototype, property))
    .find((descriptor) => descriptor !== undefined)
  return own === undefined
    ? undefined
    : 'is @Computed() and a method or an accessor: declare a property, and pass the function to @Computed()'
}

function functionProblem(compute: unknown): string | undefined {
  if (typeof compute !== 'function')
    return 'is @Computed() without a function: write @Computed((entity) => value)'
  if (isAsyncFunction(compute))
    return 'is @Computed() with an async function, but its value is needed at once: read what it needs in @AfterLoad(), or store it'
  return isGeneratorFunction(compute)
    ? 'is @Computed() with a generator function: return the value itself'
    : undefined
}

/** Behaviors of fields that clients send. */
const SENT = ['INPUT_ONLY', 'IMMUTABLE', 'IDENTIFIER'] as const

function messageProblem(
  property: string,
  proto: string,
  message: DescMessage | undefined,
  inMessage: DescField | undefined,
): string | undefined {
  if (message === undefined) return undefined
  if (inMessage === undefined)
    return `is @Computed(), but ${message.typeName} has no field ${proto}: ${misspelt(
      property,
      message.name,
      message.fields.map(({ localName }) => localName),
    )}`
  const sent = SENT.find((behavior) => behaves(inMessage, behavior))
  const asked = behaves(inMessage, 'REQUIRED') && !behaves(inMessage, 'OUTPUT_ONLY') ? 'REQUIRED' : undefined
  const behavior = sent ?? asked
  if (inMessage.oneof !== undefined)
    return `is @Computed(), but in the oneof ${inMessage.oneof.name}: move its field out of the oneof`
  return behavior === undefined
    ? undefined
    : `is @Computed(), but ${behavior} in ${message.typeName}: make the field OUTPUT_ONLY`
}

/** Returns the kind of the property's values, or the reason why it has none. */
function valueField(
  property: string,
  proto: string,
  inMessage: DescField | undefined,
  designType: unknown,
): ValueField | string {
  if (inMessage === undefined && designType === undefined)
    return `is @Computed(), but its type is unknown, because its class was compiled without decorator metadata: write @Reflect.metadata('design:type', Number), or another class, above the property, or compile with emitDecoratorMetadata`
  const declared = inMessage === undefined ? kindOfType(designType) : kindOfMessageField(inMessage)
  // A message that no column can store, such as google.protobuf.Any, is an object here like any other.
  const kind = typeof declared === 'string' ? declared : json.name
  const repeated = inMessage === undefined ? designType === Array : inMessage.fieldKind === 'list'
  const expected = inMessage === undefined ? undefined : expectedType(kind, designType, repeated)
  if (expected !== undefined)
    return `is ${kind} in the message: declare it as ${expected}, not ${describeType(designType)}`
  return {
    property,
    proto,
    kind,
    nullable:
      inMessage === undefined || inMessage.proto.proto3Optional === true || inMessage.fieldKind === 'message',
    repeated,
    maxLength: undefined,
    ...(inMessage?.fieldKind === 'enum' ? { enumNames: enumNamesOf(inMessage.enum) } : {}),
  }
}

/**
 * Returns the kind of a computed property without a message. A number may be a fraction, and an unknown class
 * is treated as JSON.
 */
const kindOfType = (designType: unknown): KindName =>
  designType === Number ? double.name : (kindOfColumn(designType, designType) ?? json.name)

function valueOn(
  entity: EntityClass<object>,
  field: ValueField,
  compute: (of: object) => unknown,
  hidden: readonly string[],
  all: () => readonly ComputedField[],
): ComputedField['valueOf'] {
  const named = `@Computed() of ${field.property} in ${entity.name}`
  const visible = hidden.length === 0 ? undefined : (of: object) => withoutSecrets(entity, of, hidden, all())
  return (of) => {
    try {
      const value = compute(visible === undefined ? of : visible(of))
      if (isThenable(value)) {
        value.then(undefined, () => {})
        throw new TypeError('the function is async, but its value is needed at once')
      }
      checkValue(field, value)
      return value ?? zeroOf(field)
    } catch (error) {
      // Computed fields may read each other.
      if (isInstance(error, Internal)) throw error
      const cause = withoutValues(error)
      throw new Internal(new TypeError(`${named} has failed: ${textOf(cause)}`, { cause }))
    }
  }
}

const textOf = (error: unknown): string => (isInstance(error, Error) ? error.message : typeof error)

/**
 * Returns a copy without the values that the database stores protected. The entity that a create returns
 * contains a token, for example. The copy is an instance of the class, so that it has private members.
 */
function withoutSecrets(
  entity: EntityClass<object>,
  of: object,
  hidden: readonly string[],
  computed: readonly ComputedField[],
): object {
  const copy = new entity() as Record<string, unknown>
  for (const property of hidden) Reflect.deleteProperty(copy, property)
  for (const property of Object.keys(of))
    if (!hidden.includes(property) && !computed.some((one) => one.property === property))
      copy[property] = (of as Readonly<Record<string, unknown>>)[property]
  return Object.defineProperties(copy, accessorsOf(entity, computed))
}
