import type { Column, Columns } from '../../resource/fields/field.js'
import type { PlanColumn, RelatedRow } from './query-plan.js'

/** The names of one resource that a filter or an order may use. */
export interface NamedFields {
  readonly columns: Columns
  /** Fields that exist and cannot be named, each with the reason. */
  readonly closed?: ReadonlyMap<string, string> | undefined
  /**
   * The fields behind a relation, or the reason why it cannot be named; undefined if it is not a relation.
   */
  readonly behind?: FieldsBehind | undefined
}

export type FieldsBehind = (name: string) => RelatedFields | string | undefined

/** The fields of another resource, as a path through a relation names them. */
export interface RelatedFields extends NamedFields {
  readonly row: RelatedRow
  /** True if there can be several, of which a filter asks for one. */
  readonly isMany: boolean
}

/** The position that a path has reached. */
export interface FieldPath {
  readonly fields: NamedFields
  /**
   * The row whose fields are named; undefined for the plan's own row. Behind a relation to several rows, that
   * is a plan of their own.
   */
  readonly of: RelatedRow | undefined
  /** Those of several that the path has led through, outermost first. */
  readonly some: readonly RelatedRow[]
  /** The names so far. */
  readonly path: readonly string[]
}

export const startOf = (fields: NamedFields): FieldPath => ({ fields, of: undefined, some: [], path: [] })

/**
 * The place behind a relation; or why it cannot be named, or undefined for what is none. A column goes before
 * a relation.
 */
export const step = (place: FieldPath, name: string): FieldPath | string | undefined => {
  const { fields, some } = place
  const related = Object.hasOwn(fields.columns, name) ? undefined : fields.behind?.(name)
  if (typeof related !== 'object') return related
  const path = [...place.path, name]
  return related.isMany
    ? { fields: related, of: undefined, some: [...some, related.row], path }
    : { fields: related, of: related.row, some, path }
}

/** The column of a columns map as plans use it; a typed column stays the same object. */
export const planColumn = (column: Column | string): PlanColumn =>
  typeof column === 'string' ? { column, kind: 'any', nullable: true } : column

/**
 * The column of a name; undefined for none. @param of - the row that holds it; without that row it is NULL.
 */
export const columnNamed = (
  { columns }: Pick<NamedFields, 'columns'>,
  name: string,
  of: RelatedRow | undefined,
): PlanColumn | undefined => {
  const found = Object.hasOwn(columns, name) ? columns[name] : undefined
  if (found === undefined) return undefined
  const column = planColumn(found)
  if (of === undefined) return column
  return { ...column, nullable: true, of, ...(!column.nullable && { isSet: true }) }
}
