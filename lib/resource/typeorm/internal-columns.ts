import {
  type ColumnOptions,
  DefaultNamingStrategy,
  getMetadataArgsStorage,
  type NamingStrategyInterface,
} from 'typeorm'
import { type EntityFacts, lineage } from '../../../decorators/entity-facts.js'
import { internalOf } from '../../../decorators/property-mapping.js'
import { tenantDeclared } from '../../../decorators/tenant-scoped.js'
import { internalJoins } from '../../../decorators/relations/join-columns.js'
import { targetClass } from '../../../decorators/relations/target-class.js'
import { type Problem, propertyProblem } from '../../errors.js'
import type { Field } from '../fields/field.js'
import type { ArgsOf } from './declaration-rules.js'
import { primaryProperties } from './primary-properties.js'
import type { SpecialIndex } from './special-index.js'

/** A column of the table that only TypeORM reads and writes. */
export interface InternalColumn {
  readonly property: string
  /** The name in the database. */
  readonly column: string
  readonly nullable: boolean
  /** True if rows that omit it receive a value. */
  readonly hasDefault: boolean
  /** Present if it contains the key of a relation's target. */
  readonly isOfRelation?: true
  /**
   * Returns TypeORM's column options. For a relation these are the options of the target's key, which is
   * loaded later.
   */
  readonly declared: () => ColumnOptions
}

/** An index managed by TypeORM, of properties, across the rows of all tenants. */
export interface InternalIndex extends SpecialIndex {
  readonly properties: readonly string[]
  readonly unique: boolean
  readonly name: string | undefined
  /** False for an index that is created elsewhere and not changed. */
  readonly isMade: boolean
}

/** The part of a table that only TypeORM manages. */
export interface InternalTable {
  readonly columns: readonly InternalColumn[]
  readonly indexes: readonly (Omit<InternalIndex, 'properties'> & { readonly columns: readonly string[] })[]
  /**
   * Fields that contain keys of classes that are not resources, declared by an internal relation or a foreign
   * key.
   */
  readonly references: readonly Field[]
}

type ColumnArgs = ArgsOf<'columns'>

/** Modes of columns that are not stored. */
const UNSTORED: ReadonlySet<string> = new Set(['virtual', 'virtual-property'])
/** TypeORM's defaults for its special columns. */
const OF_MODE: Readonly<Partial<Record<ColumnArgs['mode'], ColumnOptions>>> = {
  createDate: { type: Date, default: () => 'CURRENT_TIMESTAMP' },
  updateDate: { type: Date, default: () => 'CURRENT_TIMESTAMP' },
  deleteDate: { type: Date, nullable: true },
  version: { type: Number },
}

/**
 * Returns the part of a table that only TypeORM manages.
 * @param indexes - indexes that name internal properties, by property.
 */
export function internalTable(
  entity: object,
  internal: ReadonlySet<string>,
  fields: readonly Field[],
  indexes: readonly InternalIndex[],
  strategy: NamingStrategyInterface | undefined,
): InternalTable {
  const all = [...internalColumns(entity, internal, strategy)]
  const byColumn = new Map(fields.map((field) => [field.column, field]))
  const columns = all.filter(
    ({ column }, at) => !byColumn.has(column) && all.findIndex((one) => one.column === column) === at,
  )
  const columnsOf = (property: string): readonly string[] => {
    const field = fields.find((one) => one.property === property)
    if (field !== undefined) return [field.column]
    return columns.filter((one) => one.property === property).map(({ column }) => column)
  }
  return {
    columns,
    references: [
      ...joinsOf(all).flatMap((columns) => referring(columns.flatMap((one) => byColumn.get(one) ?? []))),
      ...foreignKeysOf(entity, fields).flatMap(referring),
    ],
    indexes: indexes.map(({ properties, ...index }) => ({
      ...index,
      columns: properties.flatMap(columnsOf),
    })),
  }
}

/**
 * Removes the tenant from a composite reference. It is part of the reference only to keep it inside the
 * tenant.
 */
const referring = (fields: readonly Field[]): readonly Field[] =>
  fields.length === 1 ? fields : fields.filter(({ role }) => role !== 'tenant')

/** Returns the columns of each internal relation. */
const joinsOf = (all: readonly InternalColumn[]): readonly (readonly string[])[] => {
  const joins = all.filter(({ isOfRelation }) => isOfRelation === true)
  return [...new Set(joins.map(({ property }) => property))].map((property) =>
    joins.flatMap((one) => (one.property === property ? [one.column] : [])),
  )
}

/** Returns the fields of each `@ForeignKey()`. TypeORM accepts properties and columns. */
const foreignKeysOf = (entity: object, fields: readonly Field[]): readonly (readonly Field[])[] => {
  const classes = new Set<unknown>(lineage(entity))
  return getMetadataArgsStorage()
    .foreignKeys.filter(({ target }) => classes.has(target))
    .map(({ propertyName, columnNames = [] }) =>
      [...(propertyName === undefined ? [] : [propertyName]), ...columnNames].flatMap(
        (name) => fields.find(({ property, column }) => property === name || column === name) ?? [],
      ),
    )
}

/** Yields the columns of `@Internal()` properties. A field may have such a column as well. */
function* internalColumns(
  entity: object,
  internal: ReadonlySet<string>,
  strategy: NamingStrategyInterface | undefined,
): Generator<InternalColumn> {
  if (internal.size === 0) return
  const storage = getMetadataArgsStorage()
  const classes = new Set<unknown>(lineage(entity))
  const isOurs = <A extends { readonly target: unknown; readonly propertyName: string }>(args: A) =>
    classes.has(args.target) && internal.has(args.propertyName)
  const generated = new Set(storage.generations.filter(isOurs).map(({ propertyName }) => propertyName))
  for (const args of storage.columns.filter(isOurs))
    if (!UNSTORED.has(args.mode))
      yield columnOf(
        args,
        args.options.name ?? strategy?.columnName(args.propertyName, undefined, []) ?? args.propertyName,
        generated.has(args.propertyName),
      )
  for (const args of storage.embeddeds.filter(isOurs))
    yield* embedded(args, args.propertyName, [prefixOf(args)])
  for (const args of storage.relations.filter(isOurs)) {
    const joins = storage.joinColumns.filter(
      ({ target, propertyName }) => target === args.target && propertyName === args.propertyName,
    )
    const isOwning =
      args.relationType === 'many-to-one' || (args.relationType === 'one-to-one' && joins.length > 0)
    const target = isOwning ? targetClass(args) : undefined
    if (typeof target !== 'function') continue
    yield* internalJoins(
      args.propertyName,
      joins,
      target,
      lineage,
      strategy && ((referenced) => strategy.joinColumnName(args.propertyName, referenced)),
    ).map(({ name, referencedColumnName }) => ({
      property: args.propertyName,
      column: name,
      nullable: args.options.nullable !== false,
      hasDefault: false,
      isOfRelation: true as const,
      declared: () => keyOptions(target, referencedColumnName),
    }))
  }
}

function columnOf(
  { mode, propertyName, options }: ColumnArgs,
  column: string,
  isGenerated: boolean,
): InternalColumn {
  const declared = { ...OF_MODE[mode], ...options, ...(isGenerated && { generated: true as const }) }
  return {
    property: propertyName,
    column,
    nullable: declared.nullable === true,
    hasDefault:
      (declared.default ?? undefined) !== undefined || declared.asExpression !== undefined || isGenerated,
    declared: () => declared,
  }
}

/** Returns the options of a referenced key, without generation. */
function keyOptions(target: object, property: string): ColumnOptions {
  const classes = new Set<unknown>(lineage(target))
  const found = getMetadataArgsStorage().columns.find(
    (column) => classes.has(column.target) && column.propertyName === property,
  )
  const { type = Number, length, precision, scale, unsigned } = found?.options ?? {}
  return {
    type,
    ...(length !== undefined && { length }),
    ...(precision !== undefined && { precision }),
    ...(scale !== undefined && { scale }),
    ...(unsigned !== undefined && { unsigned }),
  }
}

const naming = new DefaultNamingStrategy()

/** Returns the column prefix that TypeORM uses for an embedded class. */
export const prefixOf = ({ prefix, propertyName }: ArgsOf<'embeddeds'>): string =>
  prefix === undefined || prefix === true ? propertyName : prefix === false ? '' : prefix

function embedded(
  { type }: ArgsOf<'embeddeds'>,
  property: string,
  prefixes: readonly string[],
): readonly InternalColumn[] {
  const classes = new Set<unknown>(lineage((type as () => object)()))
  const storage = getMetadataArgsStorage()
  return [
    ...storage.columns
      .filter(({ target, mode }) => classes.has(target) && !UNSTORED.has(mode))
      .map((args) => {
        const name = naming.columnName(args.propertyName, args.options.name ?? '', prefixes.filter(Boolean))
        return { ...columnOf(args, name, false), property }
      }),
    ...storage.embeddeds
      .filter(({ target }) => classes.has(target))
      .flatMap((args) => embedded(args, property, [...prefixes, prefixOf(args)])),
  ]
}

/**
 * Yields problems for declarations that TypeORM cannot manage alone, and for contradictions to `@Internal()`.
 */
export function* internalProblems(
  entity: object,
  { properties, softDeletable, expirable, tenantScoped }: EntityFacts,
): Generator<Problem> {
  const internal = internalOf(properties)
  if (internal.size === 0) return
  const storage = getMetadataArgsStorage()
  const classes = new Set<unknown>(lineage(entity))
  const lists = [storage.columns, storage.relations, storage.embeddeds, storage.relationIds]
  const declared = new Set(
    lists.flatMap((list) =>
      (list as readonly { readonly target: unknown; readonly propertyName: string }[])
        .filter(({ target }) => classes.has(target))
        .map(({ propertyName }) => propertyName),
    ),
  )
  const primary = primaryProperties(classes)
  const kept = new Set([
    ...(tenantScoped === true ? [tenantDeclared(entity).property] : []),
    ...(softDeletable === true ? ['deleteTime'] : []),
    ...(expirable === undefined ? [] : ['expireTime']),
  ])
  for (const property of internal) {
    const { role, default: make, searchable, renamedFrom, protoField } = properties.get(property) ?? {}
    const wrong = (rule: string, advice: string) =>
      propertyProblem('typeorm', property, `${property} is @Internal()${rule}`, advice)
    const also = [
      ...(role === undefined ? [] : [`declared as ${role}`]),
      ...(make === undefined ? [] : ['has a @Default()']),
      ...(searchable === true ? ['@Searchable()'] : []),
      ...(renamedFrom === undefined ? [] : ['has a @RenamedFrom()']),
      ...(protoField === undefined ? [] : ['has a @ProtoField()']),
    ]
    if (also.length > 0)
      yield wrong(
        ` and ${also.join(', ')}`,
        'if only TypeORM uses it, keep only @Internal(), otherwise remove @Internal()',
      )
    else if (primary.has(property) || kept.has(property))
      yield wrong(
        `, and ${primary.has(property) ? 'a part of the primary key' : 'written by the framework'}`,
        'remove @Internal(): repositories need the column',
      )
    else if (!declared.has(property))
      yield wrong(' but no TypeORM decorator', 'a property without a column or a relation is ignored anyway')
  }
}
