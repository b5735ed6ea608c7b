import { getMetadataArgsStorage } from 'typeorm'
import 'reflect-metadata'

type Storage = ReturnType<typeof getMetadataArgsStorage>
export type ColumnArgs = Storage['columns'][number]

/** An entity class as declared by TypeORM's decorators, including those of base classes. */
export interface EntityFacts {
  readonly entity: Function
  readonly name: string
  readonly columns: readonly ColumnArgs[]
  /** Properties whose values the database generates. */
  readonly generated: ReadonlySet<string>
  readonly relations: Storage['relations']
  /** The property of the column that contains the key of a related row, by the relation's property. */
  readonly references: ReadonlyMap<string, string>
  /** The relations whose key column is in the class's table. */
  readonly owners: ReadonlySet<string>
  readonly embedded: readonly EmbeddedFacts[]
  /** The relations that refer to a column other than the key. */
  readonly offKey: ReadonlySet<string>
  /** The names of related classes, by the relation's property. */
  readonly targets: ReadonlyMap<string, string>
}

/** An embedded class, `@Column(() => Address)`. */
export interface EmbeddedFacts {
  readonly property: string
  readonly isArray: boolean
  readonly type: EntityFacts
  /** True if the class declares relations, indexes or hooks, which an embedded message does not support. */
  readonly hasMore: boolean
}

/**
 * Returns the entity classes among the exports of modules, by name. Views and the child classes of
 * single-table inheritance are excluded.
 */
export function entityClasses(exports: readonly unknown[]): readonly EntityFacts[] {
  const storage = getMetadataArgsStorage()
  const tables = new Map(storage.tables.map((one) => [one.target, one]))
  const found = new Map<string, EntityFacts>()
  for (const entity of exports)
    if (typeof entity === 'function' && tables.get(entity)?.type === 'regular')
      found.set(entity.name, factsOf(entity, storage))
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function factsOf(entity: Function, storage: Storage): EntityFacts {
  const line = lineage(entity)
  const own = <T extends { readonly target: unknown; readonly propertyName: string }>(all: readonly T[]) => {
    const byProperty = new Map<string, T>()
    // Base classes come first, so that a property keeps its position if a class declares it again.
    for (const target of line)
      for (const one of all) if (one.target === target) byProperty.set(one.propertyName, one)
    return [...byProperty.values()]
  }
  const relations = own(storage.relations)
  const joined = own(storage.joinColumns)
  const columns = own(storage.columns)
  const names = new Map(
    columns.map(({ options, propertyName }) => [options.name ?? propertyName, propertyName]),
  )
  return {
    entity,
    name: entity.name,
    columns,
    generated: new Set(own(storage.generations).map(({ propertyName }) => propertyName)),
    relations,
    references: new Map(
      relations.flatMap((relation) => {
        const { propertyName } = relation
        const join = joined.find((one) => one.propertyName === propertyName)?.name
        const held = names.get(join ?? `${propertyName}${capitalized(keyOf(relation, storage))}`)
        return held === undefined ? [] : [[propertyName, held]]
      }),
    ),
    owners: new Set(
      relations
        .filter(
          ({ relationType, propertyName }) =>
            relationType === 'many-to-one' ||
            (relationType === 'one-to-one' && joined.some((one) => one.propertyName === propertyName)),
        )
        .map(({ propertyName }) => propertyName),
    ),
    offKey: new Set(
      relations
        .filter((relation) => {
          const join = joined.find((one) => one.propertyName === relation.propertyName)
          return (join?.referencedColumnName ?? keyOf(relation, storage)) !== keyOf(relation, storage)
        })
        .map(({ propertyName }) => propertyName),
    ),
    targets: new Map(relations.map((one) => [one.propertyName, nameOf(targetOf(one))])),
    embedded: own(storage.embeddeds).map(({ propertyName, isArray, type }) => {
      const embedded = (type as () => Function)()
      const within = lineage(embedded)
      const isOf = ({ target }: { readonly target: unknown }) => within.includes(target as Function)
      const hasMore = NOT_EMBEDDED.some((kind) => storage[kind].some(isOf))
      return { property: propertyName, isArray, hasMore, type: factsOf(embedded, storage) }
    }),
  }
}

/** Declarations that an embedded message does not support. */
const NOT_EMBEDDED = [
  ...(['relations', 'generations', 'indices', 'uniques', 'checks', 'exclusions'] as const),
  ...(['entityListeners', 'foreignKeys', 'relationIds'] as const),
] as const

type RelationArgs = Storage['relations'][number]

const targetOf = ({ type }: RelationArgs): unknown =>
  typeof type === 'function' ? (type as () => unknown)() : type

const nameOf = (target: unknown): string => (typeof target === 'function' ? target.name : String(target))

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** Returns the key property of a related class; `id` if it has several. */
function keyOf(relation: RelationArgs, { columns }: Storage): string {
  const target = targetOf(relation)
  const line: readonly unknown[] = typeof target === 'function' ? lineage(target) : []
  const [key, ...others] = columns.filter((one) => line.includes(one.target) && one.options.primary === true)
  return key === undefined || others.length > 0 ? 'id' : key.propertyName
}

/** Returns the class and its base classes, base classes first. */
export function lineage(entity: Function): readonly Function[] {
  const line: Function[] = []
  for (
    let at: unknown = entity;
    typeof at === 'function' && at !== Function.prototype;
    at = Object.getPrototypeOf(at)
  )
    line.unshift(at)
  return line
}

/** Returns the type that the compiler emitted for a property; undefined without decorator metadata. */
export const designType = ({ target, propertyName }: ColumnArgs): unknown =>
  typeof target === 'function'
    ? Reflect.getMetadata('design:type', target.prototype as object, propertyName)
    : undefined

/** Returns the names of loaded entity classes that are not exported. */
export const unexportedClasses = (exports: readonly unknown[]): readonly string[] =>
  getMetadataArgsStorage()
    .tables.filter(
      ({ target, type }) => type === 'regular' && typeof target === 'function' && !exports.includes(target),
    )
    .map(({ target }) => (target as Function).name)
