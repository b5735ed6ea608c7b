import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { DefaultNamingStrategy, getMetadataArgsStorage, type NamingStrategyInterface } from 'typeorm'
import { namedFields } from '../../../decorators/columns/fields-by-property.js'
import { type EntityFacts, inheritedFacts, lineage } from '../../../decorators/entity-facts.js'
import { type Problem, propertyProblem } from '../../errors.js'
import { snakeCase } from '../../text/snake-case.js'
import { behaves } from '../behavior/field-behavior.js'
import { shapeOfField } from '../free-form/shape.js'
import { kindOfMessageField } from '../kinds/declared-kind.js'
import { json } from '../kinds/json.js'
import type { ArgsOf } from './declaration-rules.js'
import { prefixOf } from './internal-columns.js'
import type { Field } from '../fields/field.js'

type Class = new () => object

/** An embedded class, `@Column(() => Address)`: a message with a column for each of its fields. */
export interface Embedded {
  /** The path of the property, such as `address` or `address.geo`. */
  readonly property: string
  /** The path of the message field. */
  readonly proto: string
  readonly inMessage: DescField | undefined
  readonly type: Class
  /** Its own columns. Their `property` and `proto` are paths as well. */
  readonly fields: readonly Part[]
  readonly nested: readonly Embedded[]
}

/** A column of an embedded class. */
export interface Part {
  readonly field: Field
  /** The property's name in the class. */
  readonly name: string
  readonly inMessage: DescField | undefined
}

/** The declaration of an embedded class's column. */
export interface DeclaredColumn {
  /** The column, with the path as its property. */
  readonly column: ArgsOf<'columns'>
  readonly proto: string
  /** The name in the database. */
  readonly name: string
  readonly designType: unknown
  readonly inMessage: DescField | undefined
  readonly enumLabels: Readonly<Record<string, string>> | undefined
  /** True if the surrounding message may be unset. */
  readonly isOptional: boolean
  readonly isOutputOnly: boolean
}

/** Returns the embedded classes of an entity that a message field shows, by property. */
export function embeddedsOf(
  entity: { readonly name: string },
  { properties }: EntityFacts,
  message: DescMessage | undefined,
  internal: ReadonlySet<string>,
): ReadonlyMap<string, ArgsOf<'embeddeds'>> {
  const classes = new Set<unknown>(lineage(entity))
  const named = namedFields(properties)
  const isShown = (property: string) =>
    message === undefined ||
    message.fields.some(
      ({ name, localName }) => named.get(property) === name || localName === property || name === property,
    )
  return new Map(
    getMetadataArgsStorage()
      .embeddeds.filter(({ target, propertyName }) => classes.has(target) && !internal.has(propertyName))
      .filter(({ propertyName }) => isShown(propertyName))
      .map((args) => [args.propertyName, args]),
  )
}

/** Callbacks of `readEmbedded`. */
export interface EmbeddedReader {
  readonly strategy: NamingStrategyInterface | undefined
  /** Returns the field of a column; undefined if it has problems, which are reported. */
  readonly fieldOf: (declared: DeclaredColumn) => Field | undefined
  readonly report: (problem: Problem) => void
  /** Returns the problems of the class's declarations. */
  readonly check: (type: Class) => readonly Problem[]
  /** Returns problems for the message fields that no property stores. */
  readonly missing: (message: DescMessage, known: ReadonlySet<DescField>) => readonly Problem[]
}

interface Place {
  readonly property: string
  readonly proto: string
  readonly inMessage: DescField | undefined
  readonly prefixes: readonly string[]
  readonly isOptional: boolean
  readonly isOutputOnly: boolean
}

const MAX_LEVELS = 8
const NAMING = new DefaultNamingStrategy()

/** TypeORM declarations that are not supported inside an embedded class. */
const NOT_INSIDE = {
  relations: 'a relation',
  generations: '@Generated()',
  indices: '@Index(): declare it above the entity, as in',
  uniques: 'a unique rule: declare it above the entity, as in',
  checks: '@Check()',
  exclusions: '@Exclusion()',
  entityListeners: 'a hook',
  foreignKeys: '@ForeignKey()',
  relationIds: '@RelationId()',
} as const

/** Reads the embedded class of a property. Undefined if its field cannot be one. */
export function readEmbedded(
  args: ArgsOf<'embeddeds'>,
  inMessage: DescField | undefined,
  proto: string,
  reader: EmbeddedReader,
): Embedded | undefined {
  const isOptional = inMessage === undefined || !behaves(inMessage, 'REQUIRED')
  const isOutputOnly = inMessage !== undefined && behaves(inMessage, 'OUTPUT_ONLY')
  const place = {
    property: args.propertyName,
    proto,
    inMessage,
    prefixes: prefixesOf(args),
    isOptional,
    isOutputOnly,
  }
  return read(args, place, reader)
}

const prefixesOf = (args: ArgsOf<'embeddeds'>): readonly string[] => [prefixOf(args)].filter(Boolean)

function read(args: ArgsOf<'embeddeds'>, place: Place, reader: EmbeddedReader): Embedded | undefined {
  const { property, proto, inMessage } = place
  const wrong = (rule: string, advice?: string) => {
    reader.report(propertyProblem('column', property, `${property} ${rule}`, advice))
    return undefined
  }
  if (args.isArray) return wrong('is a list of an embedded class', "keep it in @Column('simple-json')")
  if (property.split('.').length > MAX_LEVELS) return wrong(`is embedded in more than ${MAX_LEVELS} classes`)
  if (inMessage !== undefined && !isPlainMessage(inMessage))
    return wrong(
      `is an embedded class, but ${inMessage.name} of ${inMessage.parent.typeName} is not a message with its own fields`,
      'make the field one message outside a oneof, or declare one column',
    )
  const type = (args.type as () => Class)()
  const classes = new Set<unknown>(lineage(type))
  const storage = getMetadataArgsStorage()
  for (const problem of reader.check(type)) reader.report(problem)
  for (const [list, what] of Object.entries(NOT_INSIDE))
    for (const one of storage[list as keyof typeof NOT_INSIDE] as readonly { target: unknown }[])
      if (classes.has(one.target))
        wrong(
          `is an embedded class with ${what}${what.endsWith('in') ? ` ['${property}.name']` : ', which is not supported'}`,
        )
  const { properties } = inheritedFacts(type)
  for (const [name, { protoField: _, enumLabels: __, type: ___, ...others }] of properties)
    if (Object.values<unknown>(others).some((value) => value !== undefined))
      wrong(
        `is an embedded class whose ${name} has a decorator of Ashlar`,
        'keep that property in the entity',
      )

  const message = inMessage?.message
  const named = namedFields(properties)
  const fieldOf = (name: string) =>
    message?.fields.find((one) =>
      named.has(name) ? one.name === named.get(name) : one.localName === name || one.name === name,
    )
  const protoOf = (name: string) => `${proto}.${fieldOf(name)?.name ?? named.get(name) ?? snakeCase(name)}`
  const known = new Set<DescField>()
  const fields: Part[] = []
  for (const column of storage.columns) {
    if (!classes.has(column.target)) continue
    const { propertyName: name, options, mode } = column
    if (mode !== 'regular' || options.primary === true) {
      wrong(`is an embedded class whose ${name} is not a plain @Column()`, 'keep that column in the entity')
      continue
    }
    const own = fieldOf(name)
    if (own !== undefined) known.add(own)
    const field = reader.fieldOf({
      column: { ...column, propertyName: `${property}.${name}` },
      proto: protoOf(name),
      name: (reader.strategy ?? NAMING).columnName(name, options.name as string, [...place.prefixes]),
      designType: Reflect.getMetadata('design:type', type.prototype as object, name),
      inMessage: own,
      enumLabels: properties.get(name)?.enumLabels,
      isOptional: place.isOptional,
      isOutputOnly: place.isOutputOnly,
    })
    if (field !== undefined) fields.push({ field, name, inMessage: own })
  }
  const nested = storage.embeddeds
    .filter(({ target }) => classes.has(target))
    .flatMap((inner): Embedded[] => {
      const own = fieldOf(inner.propertyName)
      if (own !== undefined) known.add(own)
      const found = read(
        inner,
        {
          property: `${property}.${inner.propertyName}`,
          proto: protoOf(inner.propertyName),
          inMessage: own,
          prefixes: [...place.prefixes, ...prefixesOf(inner)],
          isOptional: place.isOptional || own === undefined || !behaves(own, 'REQUIRED'),
          isOutputOnly: place.isOutputOnly || (own !== undefined && behaves(own, 'OUTPUT_ONLY')),
        },
        reader,
      )
      return found === undefined ? [] : [found]
    })
  if (message !== undefined) for (const problem of reader.missing(message, known)) reader.report(problem)
  return { property, proto, inMessage, type, fields, nested }
}

/** Returns true if the field contains one message that would be stored as the JSON of its fields. */
const isPlainMessage = (field: DescField): boolean =>
  field.fieldKind === 'message' &&
  field.oneof === undefined &&
  kindOfMessageField(field) === json.name &&
  shapeOfField(field) === undefined &&
  !field.message.typeName.startsWith('google.protobuf.')

/** Returns the columns of an embedded class, including those of nested classes. */
export const columnsOf = ({ fields, nested }: Embedded): readonly Field[] => [
  ...fields.map(({ field }) => field),
  ...nested.flatMap(columnsOf),
]

/** Returns all embedded classes, including nested ones. */
export const allEmbedded = (embedded: readonly Embedded[]): readonly Embedded[] =>
  embedded.flatMap((one) => [one, ...allEmbedded(one.nested)])

type Values = Record<string, unknown>

const valueAt = (entity: object, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? (at as Values)[name] : undefined),
    entity,
  )

/**
 * Defines a property for each column of an embedded class, named by its path. It is not enumerable, so that
 * copies and JSON contain only the embedded objects.
 */
export function definePaths(prototype: object, embedded: readonly Embedded[]): void {
  for (const one of allEmbedded(embedded))
    for (const { field, name } of one.fields) {
      const path = field.property.split('.')
      Object.defineProperty(prototype, field.property, {
        configurable: true,
        get(this: object) {
          return valueAt(this, path)
        },
        set(this: object, value: unknown) {
          const isAbsent = value === undefined || value === null
          const holder = isAbsent
            ? valueAt(this, path.slice(0, -1))
            : ensured(this, embedded, path.slice(0, -1))
          if (typeof holder === 'object' && holder !== null) (holder as Values)[name] = value
        },
      })
    }
}

/** Returns the embedded object at a path, and creates it if it is missing. */
function ensured(entity: object, embedded: readonly Embedded[], path: readonly string[]): object {
  let holder = entity as Values
  let inner = embedded
  for (const [at, name] of path.entries()) {
    const one = inner.find(({ property }) => property === path.slice(0, at + 1).join('.')) as Embedded
    holder = (holder[name] ??= new one.type()) as Values
    inner = one.nested
  }
  return holder
}

/** Returns a copy of an entity's values with each column of an embedded class under its path. */
export function withPaths(embedded: readonly Embedded[], entity: object): Values {
  const values: Values = { ...entity }
  for (const { property } of embedded) Reflect.deleteProperty(values, property)
  for (const one of embedded)
    for (const { property } of columnsOf(one))
      values[property] = Object.hasOwn(entity, property)
        ? (entity as Values)[property]
        : valueAt(entity, property.split('.'))
  return values
}

/** Returns true if one of its columns has a value. A message whose columns are all NULL is unset. */
export const isPresent = ({ fields, nested }: Embedded, held: unknown): boolean =>
  typeof held === 'object' &&
  held !== null &&
  (fields.some(({ name }) => ((held as Values)[name] ?? undefined) !== undefined) ||
    nested.some((one) => isPresent(one, (held as Values)[lastOf(one.property)])))

/** Returns the last name of a path, which is the property in the surrounding class. */
export const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1)
