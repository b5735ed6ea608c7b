import type { ColumnOptions } from 'typeorm'
import { problem, type Problem, propertyProblem } from '../../errors.js'
import type { EntityFacts } from '../../../decorators/entity-facts.js'
import { strategyOf } from '../../../decorators/columns/column-naming.js'
import { kindOf } from '../kinds/kinds.js'
import { describeType } from './column-type.js'
import type { Field } from './field.js'

type DeclaredColumns = ReadonlyMap<string, { readonly options: ColumnOptions }>

/**
 * Returns the contradictions to a naming strategy that leaves TypeORM's metadata unchanged: TypeORM must
 * derive the same column name and type as the model.
 */
export function* namingProblems(
  { resource, properties }: EntityFacts,
  columns: DeclaredColumns,
  fields: readonly Field[],
): Generator<Problem> {
  if (strategyOf(resource?.naming) === undefined) return
  if (resource?.shape !== undefined)
    yield problem('column', 'shape and naming both name the column of deleteTime', 'drop shape')
  for (const { property, proto, kind, transformed } of fields) {
    if (properties.get(property)?.isManaged === true)
      yield propertyProblem(
        'column',
        property,
        `${property} is inherited by a resource that names its columns in snake_case as well, which changes TypeORM's metadata`,
        `give both resources the same naming, or declare ${property} in each of them`,
      )
    const type = columns.get(property)?.options.type
    const { managed, declared } = kindOf({ kind })
    const isLeft = declared.isDeclaredAsText === true || transformed !== undefined
    const needed = KNOWN.has(type) && !isLeft ? managed.type(type) : undefined
    if (needed !== undefined)
      yield propertyProblem(
        'column',
        property,
        `${property}: TypeORM creates the column of a ${describeType(type)} without a type, and ${proto} is ${kind}`,
        `write the column's type, as in @Column(${JSON.stringify(COLUMN_TYPES.get(needed) ?? needed)})`,
      )
  }
}

const COLUMN_TYPES = new Map<unknown, string>([
  [String, 'varchar'],
  [Number, 'int'],
  [Boolean, 'boolean'],
  [Date, 'timestamp'],
])

/** The classes for which TypeORM has a column type. */
const KNOWN = new Set<unknown>(COLUMN_TYPES.keys())

/**
 * Returns the problem of a list column in a table that TypeORM or another application writes, which contains
 * comma-separated text.
 */
export const textListProblem = (property: string): Problem =>
  propertyProblem(
    'column',
    property,
    `${property}: a simple-array column of an existing table is a string with commas, which cannot hold the elements of this field`,
    "convert the column to JSON in a migration and declare @Column('simple-json'); or add @Internal(), so that Ashlar does not manage it",
  )
