import { problem, type Problem, propertyProblem } from '../errors.js'
import { getMetadataArgsStorage } from 'typeorm'
import { lineage } from '../../decorators/entity-facts.js'
import type { Field } from './fields/field.js'
import { kindOf } from './kinds/kinds.js'
import { isOwning, type Relation } from './relations/relation.js'
import { misspelt } from '../text/misspelt.js'
import type { ArgsOf } from './typeorm/declaration-rules.js'
import type { InternalIndex } from './typeorm/internal-columns.js'
import { isSpecial, specialIndex, type SpecialIndex } from './typeorm/special-index.js'

/** The fields of one unique rule or index, in declaration order. */
export interface IndexGroup extends SpecialIndex {
  readonly fields: readonly Field[]
  /** Undefined if the framework names the index. */
  readonly name: string | undefined
}

/** The unique rules and indexes of an entity. */
export interface IndexGroups {
  readonly uniques: readonly IndexGroup[]
  readonly indexes: readonly IndexGroup[]
  /**
   * The rules and indexes that only TypeORM manages, because they name properties that are internal to it.
   */
  readonly internal: readonly InternalIndex[]
  readonly problems: readonly Problem[]
}

type Args = ArgsOf<'indices'> | ArgsOf<'uniques'>

/** Collects the `@Unique`, `@Index` and `@Column({ unique })` declarations of an entity and its ancestors. */
export function indexGroups(
  entity: { readonly name: string },
  fields: readonly Field[],
  relations: readonly Relation[],
  /** Properties for which a problem was already reported. */
  refused: ReadonlySet<string>,
  internal: ReadonlySet<string>,
  isExisting = false,
): IndexGroups {
  const classes = new Set<unknown>(lineage(entity))
  const owning = relations.filter(isOwning)
  // As in TypeORM, an index may name a relation instead of its key property.
  const byProperty = new Map([
    ...owning.map(({ property, reference }) => [property, reference] as const),
    ...fields.map((field) => [field.property, field] as const),
  ])
  const isInternal = ({ columns }: Args) => propertiesOf(columns).some((property) => internal.has(property))
  const storage = getMetadataArgsStorage()
  const isMadeElsewhere = (args: Args) =>
    'synchronize' in args && (args.synchronize === false || (isExisting && isSpecial(specialIndex(args))))
  const isOurs = (args: Args) => classes.has(args.target) && !isInternal(args) && !isMadeElsewhere(args)
  const [uniques, indices] = [storage.uniques.filter(isOurs), storage.indices.filter(isOurs)]
  const problems: Problem[] = []
  const fieldsOf = (columns: Args['columns'], decorator: string, method?: string): Field[] => {
    const named = propertiesOf(columns)
    if (named.length === 0)
      problems.push(
        problem(
          'index',
          `${decorator} names no property`,
          `name one, as in ${decorator.slice(0, -1)}['name'])`,
        ),
      )
    for (const property of new Set(named.filter((name, at) => named.indexOf(name) !== at)))
      problems.push(
        propertyProblem('index', property, `${decorator} names ${property} twice`, 'name it once'),
      )
    return named.flatMap((property) => {
      const field = byProperty.get(property)
      if (field === undefined && !refused.has(property))
        problems.push(
          propertyProblem(
            'index',
            property,
            `${decorator}: ${misspelt(property, entity.name, byProperty.keys())}`,
          ),
        )
      const isCompared = method === undefined || method === 'fulltext'
      const why = field && isCompared ? incomparable(field) : undefined
      if (why !== undefined)
        problems.push(propertyProblem('index', property, `${decorator}: ${property} ${why}`))
      return field ?? []
    })
  }
  const groups = (found: readonly Args[], decorator: string): IndexGroup[] =>
    found.map((args) => {
      const special = 'synchronize' in args ? specialIndex(args) : {}
      return { fields: fieldsOf(args.columns, decorator, special.method), name: args.name, ...special }
    })
  const all = {
    uniques: [
      ...groups(uniques, '@Unique()'),
      ...groups(
        indices.filter(({ unique }) => unique === true),
        '@Index()',
      ),
      ...owning
        .filter(({ kind, reference }) => kind === 'one-to-one' && reference.role !== 'key')
        .map(({ reference }): IndexGroup => ({ fields: [reference], name: undefined })),
    ],
    indexes: groups(
      indices.filter(({ unique }) => unique !== true),
      '@Index()',
    ),
  }
  problems.push(...nameProblems([...all.uniques, ...all.indexes]))
  const left = (found: readonly Args[], isUnique: (args: Args) => boolean): InternalIndex[] =>
    found
      .filter((args) => classes.has(args.target) && (isInternal(args) || isMadeElsewhere(args)))
      .map((args) => ({
        properties: propertiesOf(args.columns),
        unique: isUnique(args),
        name: args.name,
        isMade: !isMadeElsewhere(args),
        ...('synchronize' in args ? specialIndex(args) : {}),
      }))
  return {
    uniques: once(all.uniques),
    indexes: once(all.indexes),
    internal: [
      ...left(storage.uniques, () => true),
      ...left(storage.indices, (args) => 'unique' in args && args.unique === true),
    ],
    problems,
  }
}

/** Returns the reason why a field cannot be part of an index. */
function incomparable(field: Field): string | undefined {
  const { role, property } = field
  if (!kindOf(field).isSortable)
    return 'contains a list, a map or a message, which no index compares: name another property'
  if (role !== 'secret' && role !== 'credential') return undefined
  const declared = property.slice(0, property.lastIndexOf('_'))
  return `is a column of ${declared}, whose indexes the framework creates: remove it`
}

/**
 * Returns the public names of fields that are unique together. The tenant is part of every rule and is
 * included only if there is no other field.
 */
export function ruleNames(fields: readonly Field[]): readonly string[] {
  const known = fields.filter(({ exposed }) => exposed)
  const own = known.filter(({ role }) => role !== 'tenant')
  return (own.length === 0 ? known : own).map(({ proto }) => proto)
}

/**
 * The maximum length of a name in bytes. PostgreSQL truncates longer names, and MySQL rejects more than 64
 * characters.
 */
const LONGEST_NAME = 63
/**
 * Matches invalid index names: quotes, backslashes, control characters, a trailing space, and names reserved
 * by MySQL and SQLite.
 */
const UNFIT_NAME = /["'`\\\u0000-\u001f\u007f]|^$|\s$|^primary$|^sqlite_/i

function nameProblems(groups: readonly IndexGroup[]): Problem[] {
  const names = groups.flatMap(({ name }) => name ?? [])
  return [...new Set(names)].flatMap((name) => [
    ...(Buffer.byteLength(name) > LONGEST_NAME
      ? [problem('index', `the index name ${name} has more than ${LONGEST_NAME} bytes`, 'shorten it')]
      : []),
    ...(UNFIT_NAME.test(name) || !name.isWellFormed()
      ? [
          problem(
            'index',
            `the index name ${JSON.stringify(name)} is not valid on every database`,
            'choose another',
          ),
        ]
      : []),
    ...(names.filter((other) => other === name).length > 1
      ? [problem('index', `two indexes are named ${name}`, 'give each another name')]
      : []),
  ])
}

/**
 * Removes duplicate rules. `@Column({ unique: true })` and `@Unique(['title'])` declare the same rule; the
 * one with a name is kept.
 */
const once = (groups: readonly IndexGroup[]): readonly IndexGroup[] =>
  groups.filter((group, at) => {
    const isSame = (other: IndexGroup) =>
      other.where === group.where &&
      other.method === group.method &&
      other.fields.length === group.fields.length &&
      other.fields.every((field, place) => field === group.fields[place])
    const same = groups.filter(isSame)
    return at === groups.indexOf(same.find(({ name }) => name !== undefined) ?? (same[0] as IndexGroup))
  })

/**
 * Returns the properties of an index. TypeORM accepts names, or a function that returns names or an object of
 * directions, which only MongoDB uses.
 */
function propertiesOf(columns: Args['columns']): readonly string[] {
  // If a class decorator has no properties, TypeORM passes the options of the index in their place.
  if (typeof columns !== 'function')
    return Array.isArray(columns) ? columns.map((name: string) => name.trim()) : []
  const named: unknown = columns(NAMES_ITSELF)
  return Array.isArray(named) ? named.map(String) : Object.keys(named as object)
}

/** Returns its own name for every property, including properties that do not exist. */
const NAMES_ITSELF: object = new Proxy({}, { get: (_, property) => property })
