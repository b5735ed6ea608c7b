import { getMetadataArgsStorage } from 'typeorm'
import { lineage } from '../../decorators/metadata.js'
import type { Field } from './fields/field.js'
import { isOwning, type Relation } from './relations/relation.js'
import { misspelt } from '../text/misspelt.js'
import type { ArgsOf } from './typeorm/rules.js'

/** The columns of unique constraints and of indexes. */
export interface IndexGroups {
  readonly uniques: readonly (readonly Field[])[]
  readonly indexes: readonly (readonly Field[])[]
  readonly problems: readonly string[]
}

type Args = ArgsOf<'indices'> | ArgsOf<'uniques'>

/** The `@Unique`, `@Index` and `@Column({ unique })` declarations of an entity and its ancestors. */
export function indexGroups(
  entity: { readonly name: string },
  fields: readonly Field[],
  relations: readonly Relation[],
  /** Properties that are already reported. */
  refused: ReadonlySet<string>,
): IndexGroups {
  const classes = new Set<unknown>(lineage(entity))
  const owning = relations.filter(isOwning)
  // As in TypeORM, a relation may be named instead of its reference.
  const byProperty = new Map([
    ...owning.map(({ property, reference }) => [property, reference] as const),
    ...fields.map((field) => [field.property, field] as const),
  ])
  const { uniques, indices } = getMetadataArgsStorage()
  const problems: string[] = []
  const groups = (found: readonly Args[], decorator: string): Field[][] =>
    found
      .filter(({ target }) => classes.has(target))
      .map(({ columns }) => {
        const named = propertiesOf(columns)
        if (named.length === 0)
          problems.push(`${decorator} names no property: say which, as in ${decorator.slice(0, -1)}['name'])`)
        return named.flatMap((property) => {
          const field = byProperty.get(property)
          if (field === undefined && !refused.has(property))
            problems.push(`${decorator}: ${misspelt(property, entity.name, byProperty.keys())}`)
          return field ?? []
        })
      })
  const lookups = indices.filter(({ unique }) => unique !== true)
  return {
    uniques: [
      ...groups(uniques, '@Unique()'),
      ...groups(
        indices.filter(({ unique }) => unique === true),
        '@Index()',
      ),
      ...owning
        .filter(({ kind, reference }) => kind === 'one-to-one' && reference.role !== 'key')
        .map(({ reference }) => [reference]),
    ],
    indexes: groups(lookups, '@Index()'),
    problems,
  }
}

/** TypeORM takes names, or a function from properties to names, or to names with a direction that only MongoDB has. */
function propertiesOf(columns: Args['columns']): readonly string[] {
  if (typeof columns !== 'function') return (columns ?? []).map((name) => name.trim())
  const named: unknown = columns(NAMES_ITSELF)
  return Array.isArray(named) ? named.map(String) : Object.keys(named as object)
}

/** Every property returns its own name, including properties that do not exist. */
const NAMES_ITSELF: object = new Proxy({}, { get: (_, property) => property })
