import type { Column, Columns } from '../../resource/fields/field.js'
import type { PlanColumn, RelatedRow } from './query-plan.js'

/** The names of one resource for filters and sort orders. */
export interface NamedFields {
  readonly columns: Columns
  /** Existing fields that must not be named, with reasons. */
  readonly closed?: ReadonlyMap<string, string> | undefined
  /**
   * Returns the fields of a relation's target, or the reason why the relation must not be named. Returns
   * undefined if it is not a relation.
   */
  readonly behind?: FieldsBehind | undefined
}

export type FieldsBehind = (name: string) => RelatedFields | string | undefined

/** The fields of another resource that are named through a relation. */
export interface RelatedFields extends NamedFields {
  readonly row: RelatedRow
  /** True if there can be several related rows. A filter matches if one of them does. */
  readonly isMany: boolean
}

/** The position that a path has reached. */
export interface FieldPath {
  readonly fields: NamedFields
  /**
   * The row whose fields are named. Undefined for the plan's own row, and after a relation to several rows,
   * which have their own plan.
   */
  readonly of: RelatedRow | undefined
  /** The relations to several rows on the path, outermost first. */
  readonly some: readonly RelatedRow[]
  /** The names of the path so far. */
  readonly path: readonly string[]
}

export const startOf = (fields: NamedFields): FieldPath => ({ fields, of: undefined, some: [], path: [] })

/**
 * Follows a relation. Returns the reason if it must not be named, or undefined if it is not a relation.
 * Columns take precedence over relations.
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

/** Returns a column as plans use it. A typed column is returned unchanged. */
export const planColumn = (column: Column | string): PlanColumn =>
  typeof column === 'string' ? { column, kind: 'any', nullable: true } : column

/**
 * Returns the column with a name, or undefined.
 *
 * @param of - the related row that contains it. If the row does not exist, the column is NULL.
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
